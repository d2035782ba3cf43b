use std::error::Error as StdError;
use std::fmt;
use std::future::Future;

use crate::effect::{Outcome, Reads};
use crate::event::Message;
use crate::telemetry::chain;

/// An async function that turns an event into its effects.
///
/// Two shapes are taken, as plain `async fn` items or closures:
///
/// ```
/// # use std::{borrow::Cow, sync::Arc};
/// # use oncebox::consumer::{Consumer, HandlerError};
/// # use oncebox::effect::{Effects, Reads};
/// # use oncebox::event::{Event, Message};
/// # use oncebox::store::Store;
/// # #[derive(serde::Serialize, serde::Deserialize)] struct OrderPlaced { order_id: String }
/// # impl Event for OrderPlaced {
/// #     const TYPE: &'static str = "OrderPlaced";
/// #     const AGGREGATE_TYPE: &'static str = "Order";
/// #     fn aggregate_id(&self) -> Cow<'_, str> { Cow::Borrowed(&self.order_id) }
/// # }
/// # struct App;
/// async fn reserve(event: Message<OrderPlaced>, reads: Reads) -> Result<Effects, HandlerError> {
///     # let _ = (event, reads);
///     Ok(Effects::new())
/// }
///
/// async fn reserve_with(event: Message<OrderPlaced>, reads: Reads, app: Arc<App>) -> Result<Effects, HandlerError> {
///     # let _ = (event, reads, app);
///     Ok(Effects::new())
/// }
///
/// # fn build(store: Arc<dyn Store>, app: Arc<App>) -> Result<(), oncebox::consumer::BuildError> {
/// Consumer::builder("inventory", Arc::clone(&store)).inbox("inbox").on(reserve).build()?;
/// Consumer::builder("inventory", store).inbox("inbox").state(app).on(reserve_with).build()?;
/// # Ok(()) }
/// ```
///
/// A handler may be run more than once for one event (a redelivery, a failed condition): it must not do anything
/// by itself that matters, only return it. It is not given a DynamoDB client.
///
/// `M` is a marker that keeps the shapes apart; it is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler of a consumer whose state is `{S}`",
    note = "a handler is `async fn(Message<E>, Reads) -> Result<O, HandlerError>`, where E is an event, and O is Effects, \
            Insert, Upsert, UpsertNext or (feature `remote`) Remote",
    note = "it may take the consumer's state as a third argument, of the very type that `.state(…)` was given before `.on(…)`"
)]
pub trait Handler<E, S, M>: Send + Sync + 'static {
    /// What the function returns on success.
    type Outcome: Outcome;

    /// Calls the function.
    fn call(
        &self,
        event: Message<E>,
        reads: Reads,
        state: S,
    ) -> impl Future<Output = Result<Self::Outcome, HandlerError>> + Send;
}

/// Marks `async fn(Message<E>, Reads)`.
#[derive(Debug)]
pub struct WithoutState;

/// Marks `async fn(Message<E>, Reads, S)`.
#[derive(Debug)]
pub struct WithState;

impl<E, S, F, Fut, O> Handler<E, S, WithoutState> for F
where
    F: Fn(Message<E>, Reads) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send,
    O: Outcome,
{
    type Outcome = O;

    fn call(
        &self,
        event: Message<E>,
        reads: Reads,
        _state: S,
    ) -> impl Future<Output = Result<O, HandlerError>> + Send {
        self(event, reads)
    }
}

impl<E, S, F, Fut, O> Handler<E, S, WithState> for F
where
    F: Fn(Message<E>, Reads, S) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send,
    O: Outcome,
{
    type Outcome = O;

    fn call(
        &self,
        event: Message<E>,
        reads: Reads,
        state: S,
    ) -> impl Future<Output = Result<O, HandlerError>> + Send {
        self(event, reads, state)
    }
}

/// A handler's failure: transient unless it says otherwise.
///
/// Any error converts into a transient one with `?`: the record is delivered again. It does not implement
/// `Error` itself, because that conversion would then overlap with the identity.
///
/// Its text is logged, and stored with a quarantined message. What [`chain`] knows to quote what it has read is told
/// without the quotation; every other error is told in its own words, so keep payload out of the `Display` of yours.
///
/// # Examples
/// ```
/// use oncebox::consumer::HandlerError;
///
/// fn check(quantity: i64) -> Result<(), HandlerError> {
///     if quantity < 1 {
///         return Err(HandlerError::permanent("the quantity is not positive"));
///     }
///     Ok(())
/// }
/// assert!(check(0).is_err_and(|error| error.is_permanent()));
/// ```
pub struct HandlerError {
    permanent: bool,
    reason: String,
}

impl HandlerError {
    /// The event can never be handled, for this reason. The reason is stored and logged: keep payload out of it.
    #[must_use]
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self { permanent: true, reason: reason.into() }
    }

    /// Worth another delivery, for this reason. The reason is logged: keep payload out of it.
    #[must_use]
    pub fn transient(reason: impl Into<String>) -> Self {
        Self { permanent: false, reason: reason.into() }
    }

    /// Whether another delivery is useless.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }
}

impl<T: StdError + Send + Sync + 'static> From<T> for HandlerError {
    fn from(error: T) -> Self {
        Self { permanent: false, reason: chain(&error) }
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.permanent { "permanent" } else { "transient" };
        write!(f, "HandlerError({kind}: {self})")
    }
}
