//! `Insert::once`.

use std::borrow::Cow;

use oncebox::consumer::HandlerError;
use oncebox::effect::{Insert, Reads, Upsert};
use oncebox::event::{Event, Message};
use oncebox::testing::{SqsBatch, WriteFault, item, number, text};
use serde::{Deserialize, Serialize};

use super::world::{Handlers, Moved, Sent, World, key};

pub(super) async fn once(event: Message<Moved>, _reads: Reads) -> Result<Insert, HandlerError> {
    let thing = item([("id", text(event.id.as_str())), ("amount", number(event.amount))]);
    Ok(Insert::once("things", ["id"], thing))
}

fn world() -> World {
    World::new(|builder| builder.on(once))
}

#[tokio::test(start_paused = true)]
async fn one_insert_however_often_it_comes() {
    let world = world();
    let event = Sent::moved(1, 1);
    assert_eq!(world.verdicts([event, event, event]).await, ["applied", "duplicate", "duplicate"]);
    assert_eq!(world.history(1).len(), 1);
    let stored = world.thing(1).unwrap();
    assert_eq!((&stored["inserted_by"], &stored["amount"]), (&text(event.key()), &number(110)));
    assert_eq!(world.store.calls().len(), 3, "one call each");
}

#[tokio::test(start_paused = true)]
async fn copies_in_one_batch_insert_once() {
    let world = world();
    let body = Sent::moved(1, 1).body();
    let batch = SqsBatch::standard("q").record("a", &body).record("b", &body).received("c", &body, 9);
    assert!(world.deliver(&batch, 10_000).await.is_empty());
    let verdicts: Vec<_> = world.logged().into_iter().map(|logged| logged.verdict).collect();
    assert_eq!(verdicts, ["applied", "duplicate", "duplicate"]);
}

#[tokio::test(start_paused = true)]
async fn an_own_insert_whose_answer_got_lost_is_applied() {
    let world = world();
    world.store.on_put(WriteFault::LostAnswer).on_put(WriteFault::Unknown);
    let event = Sent::moved(1, 1);
    assert_eq!(world.verdicts([event]).await, ["applied"]);
    assert_eq!((world.history(1).len(), world.store.pending()), (1, 0));
    world.store.on_put(WriteFault::Throttled);
    assert_eq!(world.verdicts([event]).await, ["duplicate"]);
}

#[tokio::test(start_paused = true)]
async fn c23_a_throttled_insert_comes_again_and_is_no_duplicate() {
    let world = world();
    for _ in 0..1_000 {
        world.store.on_put(WriteFault::Throttled);
    }
    let batch = SqsBatch::standard("q").record("m", &Sent::moved(1, 1).body());
    assert_eq!(world.deliver(&batch, 3_000).await, ["m"]);
    let logged = world.logged();
    assert_eq!(logged[0].verdict, "transient");
    assert!(logged[0].reason.contains("did not take the write now"), "{}", logged[0].reason);
    assert_eq!(world.thing(1), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_way_stays_and_the_event_is_permanent() {
    let world = world();
    let foreign = item([("id", text("2")), ("secret", text("s3cr3t"))]);
    world.memory.put_item("things", foreign.clone()).unwrap();
    let rival = Sent { variant: 1, ..Sent::moved(1, 1) };
    let logged = world.handle([Sent::moved(1, 1), rival, Sent::moved(2, 1)]).await;
    let verdicts: Vec<_> = logged.iter().map(|logged| logged.verdict.as_str()).collect();
    assert_eq!(verdicts, ["applied", "permanent", "permanent"]);
    assert!(logged[1].reason.contains("another event has inserted") && logged[1].reason.contains("things"));
    assert!(logged[2].reason.contains("no event inserted") && !logged[2].reason.contains("s3cr3t"));
    assert_eq!((world.number(1, "amount"), world.thing(2)), (110, Some(foreign)));
    assert_eq!(world.memory.items("quarantine").len(), 2);
}

/// It is another payment of the same amount, not the same payment.
#[tokio::test(start_paused = true)]
async fn equal_content_under_another_id_is_another_event() {
    let world = world();
    let event = Sent::moved(1, 1);
    let rival = event.body().replace(&format!(r#""id":"{}""#, event.id()), r#""id":"rival""#);
    world.handle([event]).await;
    world.deliver(&SqsBatch::standard("q").record("m", &rival), 10_000).await;
    assert_eq!(world.logged()[0].verdict, "permanent");
}

/// Some producers take the business id for the event's. Without the body's hash the second event would be taken for a
/// duplicate of the first one, and lost in silence.
#[tokio::test(start_paused = true)]
async fn one_id_with_two_contents_is_permanent_not_a_duplicate() {
    let world = world();
    let placed = Sent::moved(1, 1);
    let changed = placed.body().replace("\"amount\":110", "\"amount\":999");
    world.handle([placed]).await;
    world.deliver(&SqsBatch::standard("q").record("m", &changed), 10_000).await;
    let logged = world.logged();
    assert_eq!(logged[0].verdict, "permanent");
    assert!(logged[0].reason.contains("other content"), "{}", logged[0].reason);
    assert_eq!(world.number(1, "amount"), 110);
}

/// Another event about the same thing, which comes later.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Touched(Moved);

impl Event for Touched {
    const TYPE: &'static str = "Touched";
    const AGGREGATE_TYPE: &'static str = "Thing";

    fn aggregate_id(&self) -> Cow<'_, str> {
        self.0.aggregate_id()
    }
}

async fn touched(event: Message<Touched>, _reads: Reads) -> Result<Upsert, HandlerError> {
    let sequence = event.sequence().ok_or_else(|| HandlerError::permanent("the event has no sequence"))?;
    Ok(Upsert::if_newer("things", key(&event.0.id), sequence).set("amount", number(event.0.amount)))
}

/// An upsert keeps its event beside the insert's. Were they one attribute, the insert could not tell its own item any
/// more.
#[tokio::test(start_paused = true)]
async fn an_inserted_item_that_was_upserted_since_is_still_told_apart() {
    let world = World::new(|builder| builder.on(once).on(touched));
    let touched = |sequence| Sent { event_type: "Touched", ..Sent::moved(1, sequence) };
    let inserted = Sent::moved(1, 1);
    let events = [inserted, touched(5), touched(3), inserted, touched(6)];
    assert_eq!(world.verdicts(events).await, ["applied", "applied", "stale", "duplicate", "applied"]);
    assert_eq!((world.number(1, "version"), world.number(1, "amount")), (6, 160));
}

async fn without_its_key(event: Message<Moved>, _reads: Reads) -> Result<Insert, HandlerError> {
    Ok(Insert::once("things", ["thing_id"], item([("id", text(event.id.as_str()))])))
}

async fn with_a_kept_name(event: Message<Moved>, _reads: Reads) -> Result<Insert, HandlerError> {
    let thing = item([("id", text(event.id.as_str())), ("inserted_by", text("me"))]);
    Ok(Insert::once("things", ["id"], thing))
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_inserted_once_is_permanent_before_any_call() {
    let handlers: [(Handlers, &str); 2] = [
        (|builder| builder.on(without_its_key), "\"thing_id\""),
        (|builder| builder.on(with_a_kept_name), "\"inserted_by\""),
    ];
    for (handler, said) in handlers {
        let world = World::new(handler);
        let logged = world.handle([Sent::moved(1, 1)]).await;
        assert_eq!(logged[0].verdict, "permanent");
        assert!(
            logged[0].reason.contains(said) && logged[0].reason.contains("things"),
            "{}",
            logged[0].reason
        );
        assert!(world.memory.items("things").is_empty());
    }
}
