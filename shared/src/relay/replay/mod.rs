//! Publishing again: kept rows on demand, and quarantined rows to the destinations that are still owed.

mod quarantined;
mod selection;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

pub use quarantined::RetryError;
pub use selection::Selection;

use super::keeper::Keeper;
use super::progress::{Next, Progress};
use super::send::Sender;
use super::{Destination, Publisher, Routes};
use crate::outbox::{Row, is_published};
use crate::store::{Item, Page, Store, StoreError};
use crate::time::{Clock, Deadline, Ids, SystemClock};

/// Publishes events again that were published before, each with its own event id, so that a consumer that has applied
/// one sees a duplicate.
///
/// What can be replayed is what [`AfterPublish::Keep`](super::AfterPublish::Keep) has kept. A row that is still owed is passed over: it is the live
/// relay's, and a replay beside it so adds at most one publish a row. FIFO destinations forget a deduplication id after
/// 5 minutes and drop what comes with it in that time, silently; a replay therefore sends another deduplication id, made
/// of the event id and one id for the replay, and is delivered whenever it comes.
///
/// A replayed event is as old as it is: consumers quarantine what is older than their inbox window, and must
/// [declare](crate::inbox::Retention::replay) for how long replays happen. On FIFO destinations it arrives behind later
/// events of its aggregate.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// use oncebox::relay::{Publisher, Replay, Routes, Selection};
/// use oncebox::store::{Store, StoreError};
/// use oncebox::time::Deadline;
///
/// async fn again(
///     store: Arc<dyn Store>,
///     publisher: Arc<dyn Publisher>,
///     routes: Routes,
///     deadline: Deadline,
/// ) -> Result<(), StoreError> {
///     let replay = Replay::new(store, publisher, "outbox", routes).per_second(20);
///     let one_order = Selection::all().aggregate("Order", "o-1");
///     let mut start = None;
///     loop {
///         let replayed = replay.rows(&one_order, start, deadline).await?;
///         println!("{} published again", replayed.published);
///         start = replayed.next;
///         if start.is_none() {
///             return Ok(());
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Replay {
    sender: Sender,
    keeper: Keeper,
    routes: Routes,
    only: Option<Destination>,
    per_second: NonZeroU32,
    margin: Duration,
}

/// What a replay did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed {
    /// Items that were read.
    pub read: usize,
    /// Rows that all their destinations have accepted again.
    pub published: usize,
    /// Rows that were asked for and are still owed: the relay's business.
    pub owed: usize,
    /// Event ids of rows that were not accepted everywhere, with the reason. They may be asked for once more.
    pub failed: Vec<(String, String)>,
    /// Where the next call goes on, when the deadline came first. `None`: everything was looked at.
    pub next: Option<Item>,
}

/// The default pace, in rows a second.
const PACE: NonZeroU32 = NonZeroU32::MIN.saturating_add(49);
/// Rows that are published together at most.
const MOST_AT_ONCE: u32 = 100;

impl Replay {
    /// Replays rows of `table` along `routes`.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        publisher: Arc<dyn Publisher>,
        table: impl Into<Arc<str>>,
        routes: Routes,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sender = Sender::new(publisher, Arc::clone(&clock));
        let keeper = Keeper::new(store, table.into(), "replay", clock);
        Self { sender, keeper, routes, only: None, per_second: PACE, margin: Duration::from_millis(500) }
    }

    /// Rows a second, default 50, at least 1: consumers have their live events to serve as well.
    #[must_use]
    pub fn per_second(mut self, rows: u32) -> Self {
        self.per_second = NonZeroU32::new(rows).unwrap_or(NonZeroU32::MIN);
        self
    }

    /// Only to `destination`, for rows whose route names it. Default: to every destination of the route.
    #[must_use]
    pub fn only_to(mut self, destination: Destination) -> Self {
        self.only = Some(destination);
        self
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.sender.clock = Arc::clone(&clock);
        self.keeper.clock = clock;
        self.keeper.ids = ids;
        self
    }

    /// Publishes the selected rows again, from `start` on, until shortly before `deadline`.
    ///
    /// # Errors
    /// [`StoreError`] when the table cannot be read; what was published by then is published.
    pub async fn rows(
        &self,
        selection: &Selection,
        start: Option<Item>,
        deadline: Deadline,
    ) -> Result<Replayed, StoreError> {
        let until = deadline.less(self.margin);
        let sender = self.sender_again();
        let mut replayed = Replayed { next: start, ..Replayed::default() };
        loop {
            let page = self.read(selection, replayed.next.clone()).await?;
            replayed.read += page.items.len();
            for burst in page.items.chunks(self.burst()) {
                if until.left(self.keeper.clock.now()).is_zero() {
                    return Ok(replayed);
                }
                let sent = self.burst_of(&sender, selection, burst, until, &mut replayed).await;
                replayed.next = burst.last().and_then(Row::read).map(|row| row.key()).or(replayed.next);
                tokio::time::sleep(self.pause(sent)).await;
            }
            match page.next {
                Some(next) => replayed.next = Some(next),
                None => {
                    replayed.next = None;
                    return Ok(replayed);
                }
            }
        }
    }

    async fn read(&self, selection: &Selection, start: Option<Item>) -> Result<Page, StoreError> {
        let (store, table) = (&self.keeper.store, &*self.keeper.table);
        match selection.single() {
            Some(key) => Ok(Page { items: store.get(table, key).await?.into_iter().collect(), next: None }),
            None => store.page(selection.pages(table), start).await,
        }
    }

    /// Publishes what is asked for among `items`; answers how many rows that were.
    async fn burst_of(
        &self,
        sender: &Sender,
        selection: &Selection,
        items: &[Item],
        until: Deadline,
        replayed: &mut Replayed,
    ) -> u32 {
        let mut rows = Vec::new();
        for item in items {
            let Some(row) = Row::read(item).filter(|row| selection.takes(row)) else { continue };
            if !is_published(item) {
                replayed.owed += 1;
                continue;
            }
            let destinations = self.destinations(&row);
            if destinations.is_empty() {
                replayed.failed.push((row.sk, format!("route {:?} has no such destination", row.route)));
            } else {
                rows.push((row, destinations));
            }
        }
        let mut progress: Vec<Progress<'_>> =
            rows.iter().map(|(row, destinations)| Progress::new(row, destinations)).collect();
        sender.send(&mut progress, &self.keeper, until).await;
        for progress in &progress {
            match progress.next() {
                Next::Finish => replayed.published += 1,
                Next::Quarantine => {
                    replayed.failed.push((progress.row.sk.clone(), progress.refused_because()))
                }
                Next::Again(reason) => replayed.failed.push((progress.row.sk.clone(), reason)),
            }
        }
        u32::try_from(rows.len()).unwrap_or(u32::MAX)
    }

    fn destinations(&self, row: &Row) -> Vec<Destination> {
        let all = self.routes.of(&row.route, &row.event_type).unwrap_or_default();
        all.iter()
            .filter(|one| self.only.as_ref().is_none_or(|only| only.name() == one.name()))
            .cloned()
            .collect()
    }

    /// A sender whose messages no FIFO destination takes for the ones before. It remembers nothing.
    fn sender_again(&self) -> Sender {
        let run = self.keeper.ids.fresh(self.keeper.clock.now()).simple().to_string();
        Sender { seen: super::seen::Seen::default(), again: Some(run.into()), ..self.sender.clone() }
    }

    /// Five bursts a second, of rows that may be less than what was read.
    fn burst(&self) -> usize {
        (self.per_second.get() / 5).clamp(1, MOST_AT_ONCE) as usize
    }

    fn pause(&self, sent: u32) -> Duration {
        Duration::from_secs(u64::from(sent)) / self.per_second.get()
    }
}
