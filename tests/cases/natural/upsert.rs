//! `Upsert::if_newer`.

use oncebox::consumer::HandlerError;
use oncebox::effect::{Reads, Upsert};
use oncebox::event::Message;
use oncebox::testing::{SqsBatch, WriteFault, item, number, text};

use super::world::{Handlers, Moved, Sent, World, key, sequence};

pub(super) async fn newer(event: Message<Moved>, _reads: Reads) -> Result<Upsert, HandlerError> {
    Ok(Upsert::if_newer("things", key(&event.id), sequence(&event)?).set("amount", number(event.amount)))
}

fn world() -> World {
    World::new(|builder| builder.on(newer))
}

fn one(event: Sent) -> SqsBatch {
    SqsBatch::standard("q").record("m", &event.body())
}

#[tokio::test(start_paused = true)]
async fn c42_a_late_event_never_overwrites_a_newer_one() {
    let world = world();
    let events = [3, 1, 2, 3, 7, 5].map(|sequence| Sent::moved(1, sequence));
    let expected = ["applied", "stale", "stale", "duplicate", "applied", "stale"];
    assert_eq!(world.verdicts(events).await, expected);
    assert_eq!((world.number(1, "version"), world.number(1, "amount")), (7, 170));
}

#[tokio::test(start_paused = true)]
async fn one_version_from_two_events_is_permanent() {
    let world = world();
    let other = Sent { variant: 1, ..Sent::moved(1, 2) };
    let logged = world.handle([Sent::moved(1, 2), other]).await;
    assert_eq!((logged[0].verdict.as_str(), logged[1].verdict.as_str()), ("applied", "permanent"));
    assert!(logged[1].reason.contains("version 2") && logged[1].reason.contains("things"));
    assert_eq!(world.number(1, "amount"), 120);
}

#[tokio::test(start_paused = true)]
async fn an_own_write_whose_answer_got_lost_is_applied() {
    for faults in [vec![WriteFault::LostAnswer], vec![WriteFault::LostAnswer, WriteFault::Throttled]] {
        let world = world();
        let calls = faults.len() + 1;
        for fault in faults {
            world.store.on_update(fault);
        }
        assert_eq!(world.verdicts([Sent::moved(1, 1)]).await, ["applied"]);
        assert_eq!((world.store.calls().len(), world.history(1).len()), (calls, 1));
        assert_eq!(world.verdicts([Sent::moved(1, 1)]).await, ["duplicate"]);
    }
}

/// A throttled call has written nothing, so what is there was written by somebody else before.
#[tokio::test(start_paused = true)]
async fn a_duplicate_that_is_throttled_first_is_still_a_duplicate() {
    let world = world();
    world.verdicts([Sent::moved(1, 1)]).await;
    world.store.on_update(WriteFault::Throttled);
    assert_eq!(world.verdicts([Sent::moved(1, 1)]).await, ["duplicate"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_until_the_deadline_is_transient_and_a_duplicate_next_time() {
    let world = world();
    for _ in 0..1_000 {
        world.store.on_update(WriteFault::Unknown);
    }
    world.store.on_update(WriteFault::LostAnswer);
    assert_eq!(world.deliver(&one(Sent::moved(1, 1)), 3_000).await, ["m"]);
    assert_eq!(world.logged()[0].verdict, "transient");
    while world.store.pending() > 0 {
        world.deliver(&one(Sent::moved(1, 1)), 3_000).await;
    }
    assert_eq!(world.number(1, "version"), 1);
    world.logged();
    assert_eq!(world.verdicts([Sent::moved(1, 1)]).await, ["duplicate"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_no_event_has_written_is_taken_over_and_kept() {
    let world = world();
    world.memory.put_item("things", item([("id", text("1")), ("colour", text("red"))])).unwrap();
    assert_eq!(world.verdicts([Sent::moved(1, 4)]).await, ["applied"]);
    assert_eq!(world.thing(1).unwrap()["colour"], text("red"));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_no_event_wrote_is_not_compared_with_one() {
    for version in [number(1), number(9), text("1")] {
        let world = world();
        let foreign = item([("id", text("1")), ("version", version)]);
        world.memory.put_item("things", foreign.clone()).unwrap();
        let logged = world.handle([Sent::moved(1, 4)]).await;
        assert_eq!(logged[0].verdict, "permanent");
        assert!(logged[0].reason.contains("no event_id"), "{}", logged[0].reason);
        assert_eq!(world.thing(1), Some(foreign));
    }
}

#[tokio::test(start_paused = true)]
async fn versions_reach_from_0_to_the_largest() {
    let world = world();
    let events = [0, 0, u64::MAX, u64::MAX - 1].map(|sequence| Sent { sequence, ..Sent::moved(0, 0) });
    assert_eq!(world.verdicts(events).await, ["applied", "duplicate", "applied", "stale"]);
    assert_eq!(world.number(0, "version"), u64::MAX);
}

async fn sets_the_version(event: Message<Moved>, _reads: Reads) -> Result<Upsert, HandlerError> {
    Ok(Upsert::if_newer("things", key(&event.id), 1).set("version", number(7)))
}

async fn sets_the_key(event: Message<Moved>, _reads: Reads) -> Result<Upsert, HandlerError> {
    Ok(Upsert::if_newer("things", key(&event.id), 1).set("id", text("other")))
}

async fn sets_twice(event: Message<Moved>, _reads: Reads) -> Result<Upsert, HandlerError> {
    Ok(Upsert::if_newer("things", key(&event.id), 1).set("a", number(1)).set("a", number(2)))
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_set_is_permanent_before_any_call() {
    let handlers: [(Handlers, &str); 3] = [
        (|builder| builder.on(sets_the_version), "\"version\""),
        (|builder| builder.on(sets_the_key), "in the key"),
        (|builder| builder.on(sets_twice), "twice"),
    ];
    for (handler, said) in handlers {
        let world = World::new(handler);
        let logged = world.handle([Sent::moved(1, 1)]).await;
        assert_eq!(logged[0].verdict, "permanent");
        assert!(logged[0].reason.contains(said) && logged[0].reason.contains("things"), "{said}");
        assert!(world.memory.items("things").is_empty());
        assert!(world.store.calls().iter().all(|call| call.table == "quarantine"));
    }
}
