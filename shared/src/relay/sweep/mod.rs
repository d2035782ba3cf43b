//! The polling relay: publishes rows that the stream has missed or that the mapping has given up on.

mod claim;
mod serve;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

pub use serve::serve;

use super::batch::Relay;
use super::progress::{Next, Progress};
use super::report::Counts;
use super::tally::Tally;
use super::{AfterPublish, Destination, Publisher, Routes};
use crate::outbox::{Row, is_published, names};
use crate::quarantine::{Quarantine, Reason};
use crate::store::{Item, Pages, Store, StoreError};
use crate::time::{Clock, Deadline, Ids};

/// Publishes what is left in the outbox table.
///
/// A row is outstanding because it is there: no mark of an id or a time is kept, so a row that was committed late, with
/// an id older than rows long published, is found like any other. Rows are claimed with a condition that expires, so
/// that many sweepers may run at once; on FIFO routes a sweeper that does not get an aggregate's first row leaves the
/// whole aggregate to the other. With a grace period of zero and no stream it is the only relay.
///
/// # Examples
/// ```
/// # use std::{sync::Arc, time::Duration};
/// use oncebox::quarantine::Quarantine;
/// use oncebox::relay::{Publisher, Routes, Sweeper};
/// use oncebox::store::Store;
///
/// fn sweeper(store: Arc<dyn Store>, publisher: Arc<dyn Publisher>, routes: Routes) -> Sweeper {
///     let quarantine = Quarantine::new(Arc::clone(&store), "quarantine");
///     Sweeper::new(store, publisher, "outbox", routes, quarantine).grace(Duration::from_secs(60))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Sweeper {
    relay: Relay,
    grace: Duration,
    lease: Duration,
    max_attempts: u32,
    margin: Duration,
}

/// How far an index may lag: "within a fraction of a second, under normal conditions" (DynamoDB developer guide, global
/// secondary indexes), with room.
const INDEX_LAG: Duration = Duration::from_secs(10);
/// Rows of one aggregate that are kept for its next page; one with more is published page by page, in id order.
const MOST_CARRIED: usize = 2_000;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows that were looked at.
    pub seen: usize,
    /// Rows younger than the grace period: the stream's business.
    pub young: usize,
    /// Rows that another sweeper holds, or that wait behind one of their aggregate.
    pub held: usize,
    /// Rows that all their destinations have accepted.
    pub published: usize,
    /// Rows that went to the quarantine.
    pub quarantined: usize,
    /// Rows that were tried and stay.
    pub failed: usize,
    /// Items that are no outbox rows.
    pub odd: usize,
    /// Whether the whole table was looked at before the deadline.
    pub complete: bool,
    /// What the destinations said.
    pub(super) tally: Tally,
    /// Age of the oldest row that stays, in milliseconds.
    pub backlog_age_ms: Option<i64>,
}

impl Sweeper {
    /// Publishes rows of `table` along `routes`.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        publisher: Arc<dyn Publisher>,
        table: impl Into<Arc<str>>,
        routes: Routes,
        quarantine: Quarantine,
    ) -> Self {
        let mut relay = Relay::new(store, publisher, table, routes).quarantine(quarantine);
        relay.keeper.owner = "outbox-sweeper".into();
        Self {
            relay,
            grace: Duration::from_secs(300),
            lease: Duration::from_secs(60),
            max_attempts: 100,
            margin: Duration::from_secs(1),
        }
    }

    /// How old a row must be. Default 5 min: longer than the stream usually takes. Zero makes this the only relay.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long a claim holds. Default 60 s; longer than a sweep takes to publish a page, since another sweeper may take
    /// the row after it.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// After how many claims a row that is still not accepted is quarantined. Default 100: at a sweep a minute, longer
    /// than most outages.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// What becomes of published rows, default [`AfterPublish::Delete`]. With [`AfterPublish::Keep`] the index `pending` is
    /// swept in place of the table, so that kept rows cost nothing; since an index may show a later row before an earlier
    /// one, rows then wait for 10 s at least, whatever the [grace](Self::grace).
    #[must_use]
    pub fn after_publish(mut self, after: AfterPublish) -> Self {
        self.relay = self.relay.after_publish(after);
        self
    }

    /// Replaces the clock and the source of ids.
    #[must_use]
    pub fn with_time(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.relay = self.relay.with_time(clock, ids);
        self
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        self.relay.clock()
    }

    pub(super) fn name(&self) -> &str {
        &self.relay.keeper.owner
    }

    /// Goes through the table once, or until shortly before `deadline`; the next sweep starts afresh.
    ///
    /// # Errors
    /// [`StoreError`] when the table cannot be read. What was published by then is published.
    pub async fn sweep(&self, deadline: Deadline) -> Result<Swept, StoreError> {
        let until = deadline.less(self.margin);
        let mut swept = Swept::default();
        // Aggregates that must not go on in this sweep.
        let mut stopped: HashSet<String> = HashSet::new();
        let mut next = None;
        // The rows of an aggregate that goes on in the next page: its head may be there.
        let mut carried: Vec<Item> = Vec::new();
        loop {
            if until.left(self.clock().now()).is_zero() {
                return Ok(swept);
            }
            let keeper = &self.relay.keeper;
            let table = &*keeper.table;
            let of = if keeper.after.keeps() {
                Pages::Index { table, index: names::PENDING_INDEX }
            } else {
                Pages::Table(table)
            };
            let page = keeper.store.page(of, next).await?;
            let mut items = std::mem::take(&mut carried);
            items.extend(page.items);
            let goes_on = page.next.as_ref().and_then(|next| next.get(names::PK));
            if goes_on.is_some() && items.len() < MOST_CARRIED {
                let cut =
                    items.iter().rposition(|item| item.get(names::PK) != goes_on).map_or(0, |last| last + 1);
                carried = items.split_off(cut);
            }
            self.page(&items, &mut stopped, &mut swept, until).await;
            match page.next {
                Some(start) => next = Some(start),
                None => break,
            }
        }
        swept.complete = true;
        Ok(swept)
    }

    async fn page(&self, items: &[Item], stopped: &mut HashSet<String>, swept: &mut Swept, until: Deadline) {
        let now = self.clock().now().as_millisecond();
        swept.seen += items.len();
        // Rows that a relay in the other mode has kept.
        let owed: Vec<&Item> = items.iter().filter(|item| !is_published(item)).collect();
        let rows: Vec<(Row, u32)> =
            owed.iter().filter_map(|item| Some((Row::read(item)?, claim::attempts(item)))).collect();
        swept.odd += owed.len() - rows.len();
        let grace = if self.relay.keeper.after.keeps() { self.grace.max(INDEX_LAG) } else { self.grace };
        let grace = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
        let mut chosen: Vec<(&Row, u32, &[Destination])> = Vec::new();
        for aggregate in by_aggregate(&rows) {
            // Whether an earlier row of this aggregate was claimed: then this one may only wait behind it, and a row that
            // was merely held back must not come nearer to its limit.
            let mut ours = false;
            for (row, attempts) in aggregate {
                let Some(destinations) = self.relay.routes.of(&row.route, &row.event_type) else {
                    tracing::error!(event_id = row.sk, route = row.route, "a row has no route; it stays");
                    swept.failed += 1;
                    age(swept, row, now);
                    continue;
                };
                let fifo = destinations.iter().any(Destination::is_fifo);
                if fifo && stopped.contains(&row.pk) {
                    swept.held += 1;
                    age(swept, row, now);
                    continue;
                }
                if now.saturating_sub(row.created_at) < grace {
                    swept.young += 1;
                } else if self.claim(row, now, !(fifo && ours)).await {
                    chosen.push((row, attempts.saturating_add(u32::from(!(fifo && ours))), destinations));
                    ours = true;
                    continue;
                } else {
                    swept.held += 1;
                }
                age(swept, row, now);
                // Behind a row that is not ours, nothing of its aggregate may go out.
                if fifo {
                    stopped.insert(row.pk.clone());
                }
            }
        }
        let mut progress: Vec<Progress<'_>> =
            chosen.iter().map(|(row, _, destinations)| Progress::new(row, destinations)).collect();
        let tally = self.relay.sender.send(&mut progress, &self.relay.keeper, until).await;
        swept.tally.add(&tally);
        let mut counts = Counts::default();
        let mut again: HashMap<usize, String> = HashMap::new();
        self.relay
            .finish(&progress, &mut counts, until, |place, reason| {
                again.insert(place, reason);
            })
            .await;
        swept.published += counts.published;
        swept.quarantined += counts.quarantined;
        for (place, reason) in again {
            let (Some((row, attempts, _)), Some(progress)) = (chosen.get(place), progress.get(place)) else {
                continue;
            };
            if self.give_up(row, *attempts, progress, reason, until).await {
                swept.quarantined += 1;
            } else {
                swept.failed += 1;
                age(swept, row, now);
                stopped.insert(row.pk.clone());
            }
        }
    }

    /// At the limit of attempts a row goes to the quarantine, with what is still owed.
    async fn give_up(
        &self,
        row: &Row,
        attempts: u32,
        progress: &Progress<'_>,
        reason: String,
        until: Deadline,
    ) -> bool {
        if attempts < self.max_attempts || !progress.was_tried() || progress.next() == Next::Quarantine {
            return false;
        }
        let owed = progress.not_accepted();
        self.relay.keeper.quarantine(row, Reason::Exhausted, reason, owed, attempts, until).await
    }
}

fn age(swept: &mut Swept, row: &Row, now: i64) {
    swept.backlog_age_ms = swept.backlog_age_ms.max(Some(now.saturating_sub(row.created_at)));
}

/// Rows by aggregate, each in its order: by sequence where all have one, else by event id, which a scan keeps.
fn by_aggregate(rows: &[(Row, u32)]) -> Vec<Vec<&(Row, u32)>> {
    let mut aggregates: Vec<Vec<&(Row, u32)>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let place = *places.entry(&row.0.pk).or_insert_with(|| {
            aggregates.push(Vec::new());
            aggregates.len() - 1
        });
        if let Some(aggregate) = aggregates.get_mut(place) {
            aggregate.push(row);
        }
    }
    for aggregate in &mut aggregates {
        if aggregate.iter().all(|(row, _)| row.sequence.is_some()) {
            aggregate.sort_by_key(|(row, _)| row.sequence);
        }
    }
    aggregates
}
