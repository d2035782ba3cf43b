use serde::{Deserialize, Serialize};

/// What the provider does with one request. In JSON: `{"do": "late", "ms": 500}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Behaviour {
    /// Does the work and answers 200.
    Ok,
    /// Answers 402, and remembers that under the key: a business result, not a failure.
    Decline,
    /// Does the work, and answers after so many milliseconds.
    Late {
        /// Milliseconds.
        ms: u64,
    },
    /// Does the work, and answers twice on the same connection.
    Twice,
    /// Answers this status and does nothing.
    Refuse {
        /// The status.
        status: u16,
        /// Seconds for a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u32>,
    },
    /// Does the work, and answers this status all the same.
    FailAfter {
        /// The status.
        status: u16,
    },
    /// Never answers.
    Hang {
        /// Whether the work is done.
        work: bool,
    },
    /// Cuts the connection.
    Cut {
        /// Whether the work is done.
        work: bool,
    },
}

impl Behaviour {
    /// Whether it comes to the provider's work, or to what it remembers of it.
    pub(super) fn works(self) -> bool {
        match self {
            Self::Refuse { .. } => false,
            Self::Hang { work } | Self::Cut { work } => work,
            Self::Ok | Self::Decline | Self::Late { .. } | Self::Twice | Self::FailAfter { .. } => true,
        }
    }
}

/// How the provider is told to behave; what is absent stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behave {
    /// Whether a key that it knows brings back the first answer. At first: true.
    pub honour_keys: Option<bool>,
    /// For the next requests, one each; then the cycle goes on.
    pub next: Option<Vec<Behaviour>>,
    /// For all other requests in turn. At first: `Ok` alone.
    pub cycle: Option<Vec<Behaviour>>,
    /// Declines what has an `amount_cents` of so much or more, where it comes to its work. At first: nothing.
    pub decline_from_cents: Option<u64>,
}

impl Behave {
    /// Behaves so for the next requests, one each.
    #[must_use]
    pub fn next(behaviours: impl IntoIterator<Item = Behaviour>) -> Self {
        Self { next: Some(behaviours.into_iter().collect()), ..Self::default() }
    }

    /// Takes no notice of keys.
    #[must_use]
    pub fn without_keys(self) -> Self {
        Self { honour_keys: Some(false), ..self }
    }
}
