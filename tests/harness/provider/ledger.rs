use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Behave, Behaviour};

/// Everything that the provider was asked, and did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// How often the work was done.
    pub done: usize,
    /// Every request, in order.
    pub requests: Vec<Entry>,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its idempotency key.
    pub key: Option<String>,
    /// Its path.
    pub path: String,
    /// Its body; text where it is no JSON.
    pub body: Value,
    /// Its body, byte for byte.
    pub raw: String,
    /// Whether it had an `Authorization` header. Its value is not kept.
    pub authorized: bool,
    /// What the provider did.
    pub work: Work,
    /// What it answered; `None` for a request that hangs or is cut.
    pub status: Option<u16>,
}

/// What the provider did with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// The work.
    Done,
    /// Nothing: the first answer was given once more.
    Repeated,
    /// Nothing: the key was there with another body.
    Mismatch,
    /// Nothing: it said no.
    Declined,
    /// Nothing at all.
    None,
}

/// A request as the provider sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) key: Option<String>,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
    pub(super) authorized: bool,
}

/// An answer, and how it is given.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) behaviour: Behaviour,
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// The provider itself, without a way to reach it.
#[derive(Debug)]
pub(super) struct Books {
    honour_keys: bool,
    next: VecDeque<Behaviour>,
    cycle: Vec<Behaviour>,
    decline_from_cents: u64,
    turn: usize,
    known: HashMap<String, (Vec<u8>, u16, String)>,
    pub(super) ledger: Ledger,
}

impl Default for Books {
    fn default() -> Self {
        Self {
            honour_keys: true,
            next: VecDeque::new(),
            cycle: vec![Behaviour::Ok],
            decline_from_cents: u64::MAX,
            turn: 0,
            known: HashMap::new(),
            ledger: Ledger::default(),
        }
    }
}

impl Books {
    pub(super) fn behave(&mut self, behave: Behave) {
        self.honour_keys = behave.honour_keys.unwrap_or(self.honour_keys);
        self.decline_from_cents = behave.decline_from_cents.unwrap_or(self.decline_from_cents);
        if let Some(next) = behave.next {
            self.next = next.into();
        }
        if let Some(cycle) = behave.cycle {
            (self.cycle, self.turn) = (cycle, 0);
        }
    }

    pub(super) fn ask(&mut self, asked: &Asked) -> Given {
        let behaviour = self.next.pop_front().unwrap_or_else(|| {
            self.turn += 1;
            let at = (self.turn - 1) % self.cycle.len().max(1);
            self.cycle.get(at).copied().unwrap_or(Behaviour::Ok)
        });
        let (work, mut status, body) =
            if behaviour.works() { self.work(asked, behaviour) } else { (Work::None, 200, "{}".to_owned()) };
        let mut headers = Vec::new();
        match behaviour {
            Behaviour::Refuse { status: refused, retry_after } => {
                status = refused;
                headers.extend(retry_after.map(|seconds| ("Retry-After", seconds.to_string())));
            }
            Behaviour::FailAfter { status: failed } => status = failed,
            _ => {}
        }
        let silent = matches!(behaviour, Behaviour::Hang { .. } | Behaviour::Cut { .. });
        self.ledger.done += usize::from(work == Work::Done);
        let raw = String::from_utf8_lossy(&asked.body).into_owned();
        self.ledger.requests.push(Entry {
            key: asked.key.clone(),
            path: asked.path.clone(),
            body: serde_json::from_str(&raw).unwrap_or_else(|_| Value::from(raw.as_str())),
            raw,
            authorized: asked.authorized,
            work,
            status: (!silent).then_some(status),
        });
        Given { behaviour, status, headers, body }
    }

    fn work(&mut self, asked: &Asked, behaviour: Behaviour) -> (Work, u16, String) {
        let key = asked.key.as_ref().filter(|_| self.honour_keys);
        if let Some((body, status, answer)) = key.and_then(|key| self.known.get(key)) {
            return if *body == asked.body {
                (Work::Repeated, *status, answer.clone())
            } else {
                (Work::Mismatch, 422, json!({ "error": "this key came with another body" }).to_string())
            };
        }
        let too_much = cents(&asked.body).is_some_and(|cents| cents >= self.decline_from_cents);
        let (work, status) = if too_much || behaviour == Behaviour::Decline {
            (Work::Declined, 402)
        } else {
            (Work::Done, 200)
        };
        let answer = json!({ "id": format!("c-{}", self.ledger.done + 1) }).to_string();
        if let Some(key) = key {
            self.known.insert(key.clone(), (asked.body.clone(), status, answer.clone()));
        }
        (work, status, answer)
    }
}

fn cents(body: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Value>(body).ok()?.get("amount_cents")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_too_much_is_declined_and_stays_so() {
        let mut books = Books::default();
        books.behave(Behave {
            decline_from_cents: Some(100),
            next: Some(vec![Behaviour::FailAfter { status: 500 }, Behaviour::Ok, Behaviour::Ok]),
            ..Behave::default()
        });
        let mut ask = |key: &str, cents: u64| {
            let body = json!({ "amount_cents": cents }).to_string().into_bytes();
            let given = books.ask(&Asked { key: Some(key.to_owned()), body, ..Asked::default() });
            (given.status, books.ledger.requests.last().map(|entry| entry.work), books.ledger.done)
        };
        assert_eq!(ask("dear", 100), (500, Some(Work::Declined), 0));
        assert_eq!(ask("dear", 100), (402, Some(Work::Repeated), 0));
        assert_eq!(ask("cheap", 99), (200, Some(Work::Done), 1));
    }
}
