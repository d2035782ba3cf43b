//! What must hold, whatever happens.

use std::collections::HashSet;

use oncebox::event::BodyHash;
use oncebox::time::{Clock, Deadline};

use crate::queue::{Answer, Batch, Place, Queue, Queued};
use crate::scenario::{FOREVER, Mode, Oddity, Scenario};
use crate::state::State;
use crate::world::World;

/// The first thing that does not hold, in words.
pub(crate) type Check = Result<(), String>;

macro_rules! hold {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

/// Identifiers are those of the batch, each once, in its order; only a record without one fails the invocation.
pub(crate) fn answer(queue: &Queue, batch: &Batch, answer: &Answer) -> Check {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            hold!(queue.has_nameless(batch), "the invocation failed without need: {error}");
            return Ok(());
        }
    };
    hold!(!queue.has_nameless(batch), "a record without messageId went under");
    let ids: Vec<&str> = batch.places.iter().map(|place| queue.messages[*place].id.as_str()).collect();
    let mut from = 0;
    let mut seen = HashSet::new();
    for failure in &answer.batch_item_failures {
        let id = failure.item_identifier.as_str();
        hold!(seen.insert(id), "{id:?} is listed twice");
        let at = ids.iter().skip(from).position(|known| *known == id);
        hold!(at.is_some(), "{id:?} is not of the batch, or out of its order");
        from += at.unwrap_or_default() + 1;
    }
    Ok(())
}

/// Delays: only for what is listed, never below the time that is left, one for a FIFO group.
pub(crate) fn delays(
    world: &World,
    queue: &Queue,
    batch: &Batch,
    answers: &[Answer],
    deadline: Deadline,
) -> Check {
    let calls = world.delays.take();
    let left = deadline.left(world.clock.now());
    for call in &calls {
        hold!((1..=10).contains(&call.len()), "{} messages in one call", call.len());
        let mut groups: Vec<(&str, u32)> = Vec::new();
        for (receipt, seconds) in call {
            let seconds = *seconds;
            let message = batch
                .places
                .iter()
                .map(|place| &queue.messages[*place])
                .find(|message| receipt.strip_prefix("receipt-") == Some(&message.id));
            let Some(message) = message else { return Err(format!("{receipt:?} is not of the batch")) };
            let done = answers.iter().all(|answer| match answer {
                Ok(answer) => answer.batch_item_failures.iter().all(|one| one.item_identifier != message.id),
                Err(_) => false,
            });
            hold!(!done, "the visibility of {:?} was changed, which is not listed", message.id);
            hold!(u128::from(seconds) * 1000 >= left.as_millis(), "{seconds} s, but {left:?} are left");
            hold!(seconds <= 12 * 3600, "{seconds} s are more than SQS allows");
            if queue.fifo && message.oddity != Oddity::NoGroup {
                let known = groups.iter().find(|(group, _)| *group == message.group);
                hold!(known.is_none_or(|(_, other)| *other == seconds), "two delays in one group");
                groups.push((&message.group, seconds));
            }
        }
    }
    Ok(())
}

/// Holds at any time.
pub(crate) fn always(queue: &Queue, state: &State) -> Check {
    for (name, count) in &state.counts {
        hold!(*count == 1, "the effect {name} happened {count} times");
    }
    for (id, (sequence, count)) in &state.counted {
        hold!(sequence == count, "{id} is at {sequence} after {count} events");
    }
    let names: HashSet<&str> = queue.messages.iter().map(|message| message.name.as_str()).collect();
    let mut in_accounts = std::collections::HashMap::new();
    let mut causes = Vec::new();
    for name in names {
        let message = queue.messages.iter().find(|message| message.name == name).unwrap();
        let counted = state.counts.contains_key(name);
        let remembered = remembered(state, message);
        hold!(
            counted == (remembered && message.mode != Mode::Empty),
            "{name}: effect {counted}, inbox key {remembered}"
        );
        if counted {
            let careful = (message.mode == Mode::Careful).then(|| "careful".to_owned());
            *in_accounts.entry(message.account.clone().or(careful)).or_insert(0_u64) += 1;
            if message.mode == Mode::Emit {
                causes.push(message.key.rsplit('#').next().unwrap().to_owned());
            }
        }
    }
    for (account, count) in &state.accounts {
        let expected = in_accounts.get(&Some(account.clone())).copied().unwrap_or_default();
        hold!(*count == expected, "account {account} has {count}, and {expected} effects");
    }
    let mut emitted = state.causes.clone();
    causes.sort();
    emitted.sort();
    hold!(causes == emitted, "emitted by {emitted:?}, but the effects are those of {causes:?}");
    for case in &state.cases {
        let known = queue.messages.iter().any(|message| is_about(&case.body, message));
        hold!(known, "a body in quarantine that nobody sent: {:?}", case.body);
    }
    for message in queue.messages.iter().filter(|message| message.place == Place::Acked) {
        hold!(
            accounted_for(state, message),
            "{} ({:?}) was acknowledged for nothing",
            message.id,
            message.mode
        );
    }
    order(queue, state)
}

/// Within a group, what was applied was applied in the queue's order, unless a person has moved it: out of the
/// quarantine or of the dead letter queue.
fn order(queue: &Queue, state: &State) -> Check {
    if !queue.fifo {
        return Ok(());
    }
    let quarantined = state.quarantined();
    let place = |name: &String| queue.messages.iter().position(|message| message.name == *name);
    let order: Vec<usize> = state.order.iter().filter_map(place).collect();
    for (index, later) in order.iter().enumerate() {
        for earlier in order.iter().take(index) {
            let (first, second) = (&queue.messages[*later], &queue.messages[*earlier]);
            let moved = |message: &Queued| {
                let copies = queue.messages.iter().filter(|copy| copy.name == message.name);
                quarantined.contains(message.body.as_str())
                    || copies
                        .into_iter()
                        .any(|copy| copy.died || matches!(copy.oddity, Oddity::NoGroup | Oddity::NoMessageId))
            };
            hold!(
                later > earlier || first.group != second.group || moved(first) || moved(second),
                "{} was applied before {}, which came first in their group",
                second.name,
                first.name
            );
        }
    }
    Ok(())
}

/// Holds once nothing goes wrong any more and nothing moves.
pub(crate) fn at_last(scenario: &Scenario, world: &World, queue: &Queue, state: &State) -> Check {
    let quarantined = state.quarantined();
    for message in &queue.messages {
        let applied = remembered(state, message) && is_effect(message.mode);
        let kept = quarantined.contains(message.body.as_str());
        let exhausted = state
            .cases
            .iter()
            .any(|case| case.body == message.body && case.reason == oncebox::quarantine::Reason::Exhausted);
        // A refusal that came out of the blue met one delivery and not the next. And on its last receive a message is
        // kept even where it could not be found out whether it had been applied.
        let excused = exhausted
            || world.weather.has_wronged(&message.key)
            || (world.weather.reads_failed() && queue.max_receive.is_some());
        hold!(!(applied && kept) || excused, "{} is both applied and in quarantine", message.id);
        if message.place == Place::Waiting {
            let behind = queue.fifo
                && queue.messages.iter().any(|other| {
                    other.group == message.group
                        && other.place == Place::Waiting
                        && stuck(scenario, queue, other)
                });
            hold!(behind || stuck(scenario, queue, message), "{} comes again and again", message.id);
        }
    }
    Ok(())
}

/// Whether the message comes again for ever, by the consumer's settings.
pub(crate) fn stuck(scenario: &Scenario, queue: &Queue, message: &Queued) -> bool {
    let rival = queue.messages.iter().any(|other| other.key == message.key && other.name != message.name);
    let passing = matches!(
        message.mode,
        Mode::Fails(FOREVER) | Mode::Panics(FOREVER) | Mode::PanicsInData | Mode::NewVersion | Mode::Next(_)
    );
    let hopeless = matches!(
        message.mode,
        Mode::Permanent
            | Mode::NeverTrue
            | Mode::NotJson
            | Mode::BadData
            | Mode::UnknownVersion
            | Mode::TooOld
            | Mode::NoBody
            | Mode::Upsert(_)
            | Mode::Next(_)
    ) || rival;
    (passing && (scenario.max_receive.is_none() || !scenario.quarantine))
        || (hopeless && !scenario.quarantine)
}

fn is_effect(mode: Mode) -> bool {
    !matches!(mode, Mode::Upsert(_) | Mode::Next(_))
}

fn remembered(state: &State, message: &Queued) -> bool {
    let hash = BodyHash::of(&message.hashed.0, &message.hashed.1);
    state.inbox.get(&message.key).is_some_and(|stored| stored == hash.as_str())
}

/// Why the message may be gone.
fn accounted_for(state: &State, message: &Queued) -> bool {
    let id = message.account.as_ref().unwrap_or(&message.name);
    let upserted = || match message.mode {
        Mode::Upsert(version) => state.moved.get(id).is_some_and(|stored| *stored >= u64::from(version)),
        Mode::Next(sequence) => {
            state.counted.get(id).is_some_and(|(stored, _)| *stored >= u64::from(sequence))
        }
        _ => false,
    };
    let quarantined = || state.cases.iter().any(|case| is_about(&case.body, message));
    let mode = message.mode;
    matches!(mode, Mode::Unhandled | Mode::Stale) || remembered(state, message) || upserted() || quarantined()
}

/// A record without a body is kept as a whole.
fn is_about(kept: &str, message: &Queued) -> bool {
    if message.mode == Mode::NoBody {
        kept.contains(&format!(r#""messageId":"{}""#, message.id)) && kept.contains(r#""body":null"#)
    } else {
        kept == message.body
    }
}
