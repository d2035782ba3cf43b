use crate::store::{CancelCode, Item, Page, StoreError, TransactError, WriteError};

/// An answer that a log of calls can show.
pub(super) trait Answer {
    fn in_words(&self) -> String;
}

impl Answer for Result<(), TransactError> {
    fn in_words(&self) -> String {
        match self {
            Ok(()) => "written".to_owned(),
            Err(TransactError::Cancelled(reasons)) if reasons.is_empty() => {
                "cancelled, no reasons".to_owned()
            }
            Err(TransactError::Cancelled(reasons)) => {
                let of = |(position, code): (usize, &CancelCode)| format!("{code:?} at {position}");
                let codes = reasons.iter().map(|reason| &reason.code).enumerate();
                let stopped = codes.filter(|(_, code)| **code != CancelCode::None).map(of);
                format!("cancelled: {}", stopped.collect::<Vec<_>>().join(", "))
            }
            Err(error) => error.to_string(),
        }
    }
}

impl Answer for Result<(), WriteError> {
    fn in_words(&self) -> String {
        self.as_ref().map_or_else(ToString::to_string, |()| "written".to_owned())
    }
}

impl Answer for Result<Option<Item>, StoreError> {
    fn in_words(&self) -> String {
        match self {
            Ok(Some(_)) => "found".to_owned(),
            Ok(None) => "not there".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

impl Answer for Result<Vec<Item>, StoreError> {
    fn in_words(&self) -> String {
        match self {
            Ok(left) if left.is_empty() => "deleted".to_owned(),
            Ok(left) => format!("{} left", left.len()),
            Err(error) => error.to_string(),
        }
    }
}

impl Answer for Result<Page, StoreError> {
    fn in_words(&self) -> String {
        self.as_ref().map_or_else(ToString::to_string, |page| format!("{} items", page.items.len()))
    }
}
