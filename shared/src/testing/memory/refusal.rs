use std::fmt;

use crate::store::{StoreError, TransactError, WriteError};

/// What the twin says instead of doing what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: Code,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Validation,
    NoTable,
    TokenMismatch,
    NotInTheTwin,
}

impl Refusal {
    /// DynamoDB refuses this too.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { code: Code::Validation, message: message.into() }
    }

    /// DynamoDB may well do this; the twin does not.
    pub(crate) fn unsupported(construct: impl fmt::Display) -> Self {
        Self {
            code: Code::NotInTheTwin,
            message: format!("the in-memory twin does not evaluate {construct}"),
        }
    }

    /// The table was never declared.
    pub(crate) fn no_table(name: &str) -> Self {
        Self { code: Code::NoTable, message: format!("table {name:?} is not declared in the in-memory twin") }
    }

    /// The client request token belongs to another request.
    pub(crate) fn token_mismatch(token: &str) -> Self {
        Self {
            code: Code::TokenMismatch,
            message: format!("token {token:?} is in use for a request with another payload"),
        }
    }

    /// Whether a transaction reports this at the action's position, not for the call as a whole.
    pub(crate) fn is_invalid(&self) -> bool {
        self.code == Code::Validation
    }

    fn code(&self) -> String {
        let code = match self.code {
            Code::Validation => "ValidationException",
            Code::NoTable => "ResourceNotFoundException",
            Code::TokenMismatch => "IdempotentParameterMismatchException",
            Code::NotInTheTwin => "NotInTheTwin",
        };
        code.to_owned()
    }

    pub(crate) fn into_store(self, operation: &'static str, table: &str) -> StoreError {
        StoreError { operation, table: table.to_owned(), kind: self.code(), source: self.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for TransactError {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code();
        match refusal.code {
            Code::NoTable => Self::Throttled { code, source: refusal.into() },
            _ => Self::Refused { code, source: refusal.into() },
        }
    }
}

impl From<Refusal> for WriteError {
    fn from(refusal: Refusal) -> Self {
        let code = refusal.code();
        match refusal.code {
            Code::NoTable => Self::Throttled { code, source: refusal.into() },
            _ => Self::Refused { code, source: refusal.into() },
        }
    }
}
