//! Every crash point against every behaviour of the provider.

use std::sync::Arc;
use std::time::Duration;

use oncebox::effect::remote::{OnUnknown, Reply, Resolution, StartedCalls};
use oncebox::quarantine::{self, Case, Reason};
use oncebox::store::{Item, Pages};
use oncebox::time::{Clock, Deadline, RandomIds};
use oncebox_tests::{Behave, Behaviour, Work};

use crate::bench::{Mode, event, payment};
use crate::mortal::Point;
use crate::world::{End, Life, World};

/// Later than any consumer of these tests waits.
const TOO_LATE: u64 = 60_000;

fn behaviours() -> Vec<Behaviour> {
    let refuse = |status| Behaviour::Refuse { status, retry_after: (status == 429).then_some(1) };
    let mut all =
        vec![Behaviour::Ok, Behaviour::Late { ms: 50 }, Behaviour::Late { ms: TOO_LATE }, Behaviour::Twice];
    all.extend([409, 422, 425, 429, 500, 503].map(refuse));
    all.push(Behaviour::FailAfter { status: 500 });
    all.extend([true, false].map(|work| Behaviour::Hang { work }));
    all.extend([true, false].map(|work| Behaviour::Cut { work }));
    all
}

/// Whether the provider has done the work in the first attempt.
fn works(first: Behaviour) -> bool {
    match first {
        Behaviour::Refuse { .. } | Behaviour::Decline => false,
        Behaviour::Hang { work } | Behaviour::Cut { work } => work,
        _ => true,
    }
}

/// Whether the first answer leaves an unkeyed consumer in the dark.
fn leaves_open(first: Behaviour) -> bool {
    match first {
        Behaviour::Refuse { status, .. } => !matches!(status, 422 | 429),
        Behaviour::Late { ms } => ms == TOO_LATE,
        Behaviour::FailAfter { .. } | Behaviour::Hang { .. } | Behaviour::Cut { .. } => true,
        _ => false,
    }
}

/// Whether the process died with a call begun and no answer stored.
fn dies_in_the_dark(point: Point) -> bool {
    matches!(point, Point::AfterStarted | Point::DuringCall | Point::AfterCall)
}

/// What an event came to before a person had a look.
struct Story {
    cases: Vec<Case>,
    done: usize,
}

impl Life<'_> {
    fn about(&self, point: Point, first: Behaviour) -> String {
        format!("event {}, {point:?}, {first:?}: {:#?}", self.number, self.provider.ledger())
    }

    async fn cases(&self) -> Vec<Case> {
        let rows = self.rows("quarantine", format!("payment#{}", event(self.number))).await;
        rows.iter().map(|row| quarantine::read(row, &[]).unwrap()).collect()
    }

    async fn rows(&self, table: &str, pk: String) -> Vec<Item> {
        let of = Pages::Partition { table, index: None, key: "pk", value: &pk };
        self.world.store.page(of, None).await.unwrap().items
    }

    async fn left(&self, table: &str) -> usize {
        self.rows(table, event(self.number)).await.len()
    }

    /// Delivers until SQS may forget the message.
    async fn deliver_until_done(&self) {
        for received in 1..=8 {
            match self.deliver(received).await {
                End::Acknowledged if self.fate.take(Point::BeforeAck) => {}
                End::Acknowledged => return,
                End::Listed | End::Died => {}
            }
            self.later();
        }
        panic!("event {} comes again for ever: {:#?}", self.number, self.provider.ledger());
    }

    /// A person looks into the provider's ledger, says what is there, and redrives; once more where the call that follows
    /// is unknown too.
    async fn settle(&self, case: &Case) {
        let calls = StartedCalls::new(Arc::clone(&self.world.store), "remote");
        for _ in 0..2 {
            self.later();
            let done = self.provider.ledger().done > 0;
            let resolution = if done { Resolution::Done(Reply::new(200, "{}")) } else { Resolution::NotDone };
            let deadline = Deadline::after(self.clock.now(), Duration::from_secs(60));
            calls.resolve_case(case, resolution, &RandomIds, &self.clock, deadline).await.unwrap();
            self.deliver_until_done().await;
            if payment(&self.world.store, self.number).await.is_some() {
                break;
            }
        }
    }

    async fn play(&self, point: Point, first: Behaviour) -> Story {
        self.provider.behave(Behave::next([first]));
        self.fate.plan(point);
        self.deliver_until_done().await;
        Story { cases: self.cases().await, done: self.provider.ledger().done }
    }

    /// The effect is there once, and nothing is left of the call. The relay publishes the event once more, with a receive
    /// count of 1: nothing is called.
    async fn check_applied_once(&self, about: &str) {
        let before = self.provider.ledger();
        assert_eq!(self.deliver(1).await, End::Acknowledged, "{about}");
        assert_eq!(self.provider.ledger(), before, "{about}");
        assert_eq!(
            payment(&self.world.store, self.number).await,
            Some(("CAPTURED".into(), "1".into())),
            "{about}"
        );
        assert_eq!((self.left("inbox").await, self.left("remote").await), (1, 0), "{about}");
    }
}

async fn keyed(world: &World) {
    let mut number = 0;
    for point in Point::ALL {
        for first in behaviours() {
            number += 1;
            let life = Life::new(world, number, Mode::Keyed);
            let story = life.play(point, first).await;
            let about = life.about(point, first);
            match story.cases.as_slice() {
                [] => assert_eq!(story.done, 1, "{about}"),
                // Refused, not in silence: it is redriven when the cause is mended.
                [case] => {
                    assert!(matches!(first, Behaviour::Refuse { status: 422, .. }), "{about}");
                    assert_eq!(case.reason, Reason::Permanent, "{about}");
                    life.deliver_until_done().await;
                }
                more => panic!("{} cases: {about}", more.len()),
            }
            let ledger = life.provider.ledger();
            assert_eq!(ledger.done, 1, "exactly one capture: {about}");
            assert!(ledger.requests.iter().all(|request| request.work != Work::Mismatch), "{about}");
            for request in &ledger.requests {
                assert_eq!(request.key, Some(event(number)), "{about}");
                assert_eq!(request.raw, ledger.requests[0].raw, "the same bytes each time: {about}");
                assert!(request.authorized, "{about}");
            }
            life.check_applied_once(&about).await;
        }
    }
}

async fn unkeyed_quarantine(world: &World) {
    let mut number = 0;
    for point in Point::ALL {
        for first in behaviours() {
            number += 1;
            let life = Life::new(world, number, Mode::Unkeyed(OnUnknown::Quarantine));
            life.provider.behave(Behave::default().without_keys());
            let story = life.play(point, first).await;
            let about = life.about(point, first);
            let unknown = dies_in_the_dark(point) || leaves_open(first);
            let refused = !unknown && matches!(first, Behaviour::Refuse { status: 422, .. });
            let reasons: Vec<Reason> = story.cases.iter().map(|case| case.reason).collect();
            if unknown || refused {
                let expected = if unknown { Reason::Unknown } else { Reason::Permanent };
                assert_eq!(reasons, [expected], "{about}");
                assert!(story.done <= 1, "never a second call without a person: {about}");
                assert_eq!(payment(&world.store, number).await, None, "{about}");
                life.settle(&story.cases[0]).await;
            } else {
                assert_eq!((reasons.len(), story.done), (0, 1), "{about}");
            }
            let about = life.about(point, first);
            assert_eq!(life.provider.ledger().done, 1, "{about}");
            assert!(life.provider.ledger().requests.iter().all(|request| request.key.is_none()), "{about}");
            life.check_applied_once(&about).await;
        }
    }
}

async fn unkeyed_call_again(world: &World) {
    let mut number = 0;
    for point in Point::ALL {
        for first in behaviours() {
            number += 1;
            let life = Life::new(world, number, Mode::Unkeyed(OnUnknown::CallAgain));
            life.provider.behave(Behave::default().without_keys());
            let story = life.play(point, first).await;
            let about = life.about(point, first);
            let called = point != Point::AfterStarted;
            let again = (dies_in_the_dark(point) && called) || leaves_open(first);
            let refused = matches!(first, Behaviour::Refuse { status: 422, .. });
            if let [case] = story.cases.as_slice() {
                assert!(refused && case.reason == Reason::Permanent, "{about}");
                life.settle(case).await;
            }
            let twice = again && works(first);
            let about = life.about(point, first);
            assert_eq!(life.provider.ledger().done, 1 + usize::from(twice), "{about}");
            life.check_applied_once(&about).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn c16_keyed_is_one_capture_always_in_memory() {
    keyed(&World::in_memory()).await;
}

#[tokio::test]
async fn c16_keyed_is_one_capture_always_on_the_emulator() {
    keyed(&World::on_emulator().await).await;
}

#[tokio::test(start_paused = true)]
async fn unkeyed_is_at_most_one_call_and_a_person_in_memory() {
    unkeyed_quarantine(&World::in_memory()).await;
}

#[tokio::test]
async fn unkeyed_is_at_most_one_call_and_a_person_on_the_emulator() {
    unkeyed_quarantine(&World::on_emulator().await).await;
}

#[tokio::test(start_paused = true)]
async fn unkeyed_is_called_again_where_that_is_the_choice_in_memory() {
    unkeyed_call_again(&World::in_memory()).await;
}

#[tokio::test]
async fn unkeyed_is_called_again_where_that_is_the_choice_on_the_emulator() {
    unkeyed_call_again(&World::on_emulator().await).await;
}

/// Two live deliveries of one event: one calls, the other waits for its next delivery.
async fn two_at_once(world: &World) {
    for (number, mode) in
        [Mode::Keyed, Mode::Unkeyed(OnUnknown::Quarantine), Mode::Unkeyed(OnUnknown::CallAgain)]
            .into_iter()
            .enumerate()
    {
        let life = Life::patient(world, number, mode);
        life.provider.behave(Behave::next([Behaviour::Late { ms: 300 }]).without_keys());
        let mut ends = [life.deliver(1), life.deliver(1), life.deliver(1)].map(Box::pin);
        let [one, two, three] = &mut ends;
        let (one, two, three) = tokio::join!(one, two, three);
        let acknowledged = [one, two, three].iter().filter(|end| **end == End::Acknowledged).count();
        assert_eq!((acknowledged, life.provider.ledger().done), (1, 1), "{mode:?}");
        // Those that were listed come again.
        assert_eq!(life.deliver(2).await, End::Acknowledged);
        assert_eq!(life.provider.ledger().requests.len(), 1, "{mode:?}");
        life.check_applied_once(&format!("{mode:?}")).await;
    }
}

/// The same with every behaviour of the provider: what it comes to is what one delivery comes to.
async fn two_at_once_and_each_behaviour(world: &World) {
    let mut number = 100;
    for mode in [Mode::Keyed, Mode::Unkeyed(OnUnknown::Quarantine), Mode::Unkeyed(OnUnknown::CallAgain)] {
        for first in behaviours() {
            number += 1;
            let life = Life::new(world, number, mode);
            let behave = Behave::next([first]);
            life.provider.behave(if mode == Mode::Keyed { behave } else { behave.without_keys() });
            tokio::join!(life.deliver(1), life.deliver(1));
            life.later();
            life.deliver_until_done().await;
            let cases = life.cases().await;
            let reasons: Vec<Reason> = cases.iter().map(|case| case.reason).collect();
            let about = format!("{mode:?}, {}", life.about(Point::BeforeAck, first));
            let refused = matches!(first, Behaviour::Refuse { status: 422, .. });
            let unknown = mode == Mode::Unkeyed(OnUnknown::Quarantine) && leaves_open(first);
            if unknown {
                assert_eq!(reasons, [Reason::Unknown], "{about}");
                assert!(life.provider.ledger().done <= 1, "never a second call without a person: {about}");
                life.settle(&cases[0]).await;
            } else if refused && mode == Mode::Keyed {
                assert_eq!(reasons, [Reason::Permanent], "{about}");
                life.deliver_until_done().await;
            } else if refused {
                assert_eq!(reasons, [Reason::Permanent], "{about}");
                life.settle(&cases[0]).await;
            } else {
                assert!(reasons.is_empty(), "{about}");
            }
            let twice = mode == Mode::Unkeyed(OnUnknown::CallAgain) && leaves_open(first) && works(first);
            assert_eq!(life.provider.ledger().done, 1 + usize::from(twice), "{about}");
            life.check_applied_once(&about).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_live_deliveries_and_each_behaviour_in_memory() {
    two_at_once_and_each_behaviour(&World::in_memory()).await;
}

#[tokio::test]
async fn two_live_deliveries_and_each_behaviour_on_the_emulator() {
    two_at_once_and_each_behaviour(&World::on_emulator().await).await;
}

#[tokio::test(start_paused = true)]
async fn of_two_live_deliveries_one_calls_in_memory() {
    two_at_once(&World::in_memory()).await;
}

#[tokio::test]
async fn of_two_live_deliveries_one_calls_on_the_emulator() {
    two_at_once(&World::on_emulator().await).await;
}
