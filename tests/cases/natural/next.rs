//! `Upsert::next`, and the event types that no handler takes.

use oncebox::consumer::{BuildError, Builder, Consumer, HandlerError};
use oncebox::effect::{Reads, Upsert, UpsertNext};
use oncebox::event::{Envelope, Message};
use oncebox::testing::{MemoryStore, SqsBatch, WriteFault, item, number, text};

use super::world::{Moved, Sent, World, key, sequence};

pub(super) async fn next(event: Message<Moved>, _reads: Reads) -> Result<UpsertNext, HandlerError> {
    let next = Upsert::next("things", key(&event.id), sequence(&event)?);
    Ok(next.set("last", number(event.amount)).add("sum", number(event.amount)))
}

pub(super) fn advance(envelope: &Envelope) -> Option<UpsertNext> {
    match envelope.event_type.as_str() {
        "Panicking" => panic!("on_unhandled was told to"),
        "Elsewhere" => None,
        _ => envelope.sequence.map(|sequence| Upsert::next("things", key(&envelope.aggregate_id), sequence)),
    }
}

pub(super) fn handlers(builder: Builder<()>) -> Builder<()> {
    builder.on(next).on_unhandled(advance)
}

fn other(event_type: &'static str, sequence: u64) -> Sent {
    Sent { event_type, ..Sent::moved(1, sequence) }
}

#[tokio::test(start_paused = true)]
async fn c42_a_later_event_waits_for_the_earlier_one() {
    let world = World::new(handlers);
    let events = [2, 1, 3, 2, 3, 2].map(|sequence| Sent::moved(1, sequence));
    let logged = world.handle(events).await;
    let verdicts: Vec<_> = logged.iter().map(|logged| logged.verdict.as_str()).collect();
    assert_eq!(verdicts, ["transient", "applied", "transient", "applied", "applied", "stale"]);
    assert!(logged[0].reason.contains("expected 1, found 2"), "{}", logged[0].reason);
    assert!(logged[2].reason.contains("expected 2, found 3"), "{}", logged[2].reason);
    assert_eq!((world.number(1, "version"), world.number(1, "sum"), world.number(1, "last")), (3, 360, 130));
}

#[tokio::test(start_paused = true)]
async fn the_last_event_again_is_a_duplicate_and_a_rival_is_permanent() {
    let world = World::new(handlers);
    let rival = Sent { variant: 1, ..Sent::moved(1, 1) };
    let expected = ["applied", "duplicate", "permanent"];
    assert_eq!(world.verdicts([Sent::moved(1, 1), Sent::moved(1, 1), rival]).await, expected);
    assert_eq!(world.number(1, "sum"), 110);
}

#[tokio::test(start_paused = true)]
async fn an_own_write_whose_answer_got_lost_is_applied_once() {
    let world = World::new(handlers);
    world.store.on_update(WriteFault::LostAnswer).on_update(WriteFault::LostAnswer);
    assert_eq!(world.verdicts([Sent::moved(1, 1), Sent::moved(1, 2)]).await, ["applied", "applied"]);
    assert_eq!((world.number(1, "sum"), world.history(1).len(), world.store.calls().len()), (230, 2, 3));
}

/// Only now is it behind: another delivery was faster, while this one waited for an answer.
#[tokio::test(start_paused = true)]
async fn an_own_write_that_was_overtaken_is_not_written_again() {
    let world = World::new(handlers);
    let memory = world.memory.clone();
    let theirs = item([
        ("id", text("1")),
        ("sum", number(230)),
        ("version", number(2)),
        ("event_id", text(Sent::moved(1, 2).key())),
    ]);
    world.store.on_update(WriteFault::LostAnswer).before_update(move || async move {
        memory.put_item("things", theirs).unwrap();
    });
    assert_eq!(world.verdicts([Sent::moved(1, 1)]).await, ["stale"]);
    assert_eq!(world.number(1, "sum"), 230);
}

#[tokio::test(start_paused = true)]
async fn a_sequence_of_0_and_an_event_without_one_are_permanent() {
    let world = World::new(handlers);
    let without = Sent::moved(1, 1).body().replace(r#""sequence":"1","#, "");
    world.deliver(&SqsBatch::standard("q").record("m", &without), 10_000).await;
    let logged = world.handle([Sent::moved(1, 0)]).await;
    assert!(logged.iter().all(|logged| logged.verdict == "permanent"));
    assert!(logged[0].reason.contains("no sequence") && logged[1].reason.contains("begin at 1"));
    assert!(world.memory.items("things").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_foreign_item_is_taken_over_at_sequence_1_only() {
    let world = World::new(handlers);
    world.memory.put_item("things", item([("id", text("1")), ("sum", number(7))])).unwrap();
    world.memory.put_item("things", item([("id", text("2")), ("version", number(1))])).unwrap();
    let events = [Sent::moved(1, 2), Sent::moved(1, 1), Sent::moved(2, 2), Sent::moved(2, 1)];
    assert_eq!(world.verdicts(events).await, ["transient", "applied", "permanent", "permanent"]);
    assert_eq!(world.number(1, "sum"), 117, "it was there before");
}

#[tokio::test(start_paused = true)]
async fn a_gap_holds_back_its_fifo_group_and_no_other() {
    let world = World::new(handlers);
    let batch = SqsBatch::fifo("q")
        .grouped("1-2", "1", &Sent::moved(1, 2).body())
        .grouped("2-1", "2", &Sent::moved(2, 1).body())
        .grouped("1-3", "1", &Sent::moved(1, 3).body())
        .grouped("2-2", "2", &Sent::moved(2, 2).body());
    assert_eq!(world.deliver(&batch, 10_000).await, ["1-2", "1-3"]);
    assert_eq!((world.number(2, "version"), world.thing(1)), (2, None));
    assert_eq!(world.store.calls().len(), 3, "the third of group 1 is not tried");
}

#[tokio::test(start_paused = true)]
async fn a_type_without_a_handler_advances_the_item_and_counts_as_unhandled() {
    let world = World::new(handlers);
    let ignored = other("Ignored", 2);
    let events = [Sent::moved(1, 1), ignored, Sent::moved(1, 3), ignored, other("Elsewhere", 4)];
    assert_eq!(world.verdicts(events).await, ["applied", "unhandled", "applied", "unhandled", "unhandled"]);
    assert_eq!((world.number(1, "version"), world.number(1, "sum")), (3, 240));
}

#[tokio::test(start_paused = true)]
async fn a_type_without_a_handler_is_not_let_go_before_it_is_written() {
    let world = World::new(handlers);
    let deliver = |event: Sent| SqsBatch::standard("q").record("m", &event.body());
    assert_eq!(world.deliver(&deliver(other("Ignored", 2)), 3_000).await, ["m"]);
    assert!(world.logged()[0].reason.contains("expected 1, found 2"));
    for _ in 0..1_000 {
        world.store.on_update(WriteFault::Throttled);
    }
    assert_eq!(world.deliver(&deliver(other("Ignored", 1)), 3_000).await, ["m"]);
    assert_eq!((world.logged()[0].verdict.as_str(), world.thing(1)), ("transient", None));
}

#[tokio::test(start_paused = true)]
async fn a_rival_of_a_type_without_a_handler_is_permanent() {
    let world = World::new(handlers);
    let rival = Sent { variant: 1, ..other("Ignored", 1) };
    assert_eq!(world.verdicts([Sent::moved(1, 1), rival]).await, ["applied", "permanent"]);
    assert_eq!(world.memory.items("quarantine").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_on_unhandled_is_alone_packed_or_not() {
    for packing in [false, true] {
        let world = World::new(|builder| handlers(builder).packing(packing));
        let batch = SqsBatch::standard("q")
            .record("bad", &other("Panicking", 1).body())
            .record("good", &Sent::moved(1, 1).body())
            .record("ignored", &Sent { event_type: "Ignored", ..Sent::moved(2, 1) }.body());
        assert_eq!(world.deliver(&batch, 10_000).await, ["bad"]);
        assert_eq!((world.number(1, "sum"), world.number(2, "version")), (110, 1));
    }
}

#[test]
fn a_consumer_that_would_leave_gaps_is_not_built() {
    let builder = || Consumer::builder("things", std::sync::Arc::new(MemoryStore::new()));
    let error = builder().on(next).build().unwrap_err();
    assert_eq!(error, BuildError::NoUnhandled("things".into()));
    assert!(error.to_string().contains(".on_unhandled("), "{error}");
    builder().on(next).on_unhandled(|_| None).build().unwrap();
    builder().on(super::upsert::newer).build().unwrap();
}
