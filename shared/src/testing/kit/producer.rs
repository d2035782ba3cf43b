use super::Scenario;
use super::story::OnPanic;

/// A producer, and what it answered to the last call.
#[derive(Debug)]
pub struct Called<P, T = ()> {
    producer: P,
    answer: Option<T>,
}

impl<P> Called<P> {
    pub(super) fn not_yet(producer: P) -> Self {
        Self { producer, answer: None }
    }
}

/// Calls of a producer.
///
/// ```
/// # use std::borrow::Cow;
/// use oncebox::event::{Emit, Event};
/// use oncebox::outbox::{CommitError, Transaction};
/// use oncebox::testing::Fault;
/// use oncebox::testing::kit::Given;
///
/// # #[derive(serde::Serialize, serde::Deserialize)] struct OrderPlaced { order_id: String }
/// # impl Event for OrderPlaced {
/// #     const TYPE: &'static str = "OrderPlaced";
/// #     const AGGREGATE_TYPE: &'static str = "Order";
/// #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.order_id) }
/// # }
/// let placed = || Transaction::new().emit(Emit::new(&OrderPlaced { order_id: "o-1".into() }).sequence(1));
/// Given::new()
///     .producer(|kit| kit.outbox())
///     .with_fault(Fault::LostAnswer)
///     .when_called(async |outbox| outbox.commit(placed()).await)
///     .then_answer(|answer| assert!(answer.is_ok()))
///     .then_emitted(|event: &OrderPlaced, envelope| {
///         assert_eq!((event.order_id.as_str(), envelope.sequence), ("o-1", Some(1)));
///     })
///     .with_constant_fault(Fault::Throttled)
///     .when_called(async |outbox| outbox.commit(placed()).await)
///     .then_answer(|answer| assert!(matches!(answer, Err(CommitError::Busy { .. }))))
///     .then_nothing_written();
/// ```
impl<P, T> Scenario<Called<P, T>> {
    /// Calls the producer, on the kit's runtime and clock.
    #[track_caller]
    pub fn when_called<U>(mut self, call: impl AsyncFnOnce(&P) -> U) -> Scenario<Called<P, U>> {
        self.begin();
        let Self { kit, work: Called { producer, .. }, left, mark, .. } = self;
        let answer = Some(kit.run(call(&producer)));
        let scenario = Scenario {
            kit,
            work: Called { producer, answer },
            left,
            mark,
            #[cfg(feature = "consumer")]
            delivery: super::deliver::Delivery::none(false),
        };
        scenario.end();
        scenario
    }

    /// Looks at what the last call answered.
    #[track_caller]
    pub fn then_answer(self, check: impl FnOnce(&T)) -> Self {
        match &self.work.answer {
            Some(answer) => {
                let _story = OnPanic(self.story());
                check(answer);
            }
            None => self.fail(&"nothing was called yet: it starts with .when_called(…)"),
        }
        self
    }
}
