//! A store whose every answer is an error that quotes the request, as DynamoDB's validation errors do.

use aws_sdk_dynamodb::error::ErrorMetadata;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use futures::future::BoxFuture;
use oncebox::store::{Item, Page, Pages, Store, StoreError, TransactError, WriteError};

use super::desk::SECRET;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoting {
    /// Whether a transaction is refused for good, or its outcome is not known.
    pub(crate) refuses: bool,
}

const CODE: &str = "ValidationException";

fn sdk() -> Box<TransactWriteItemsError> {
    let message = format!("The parameter cannot be converted to a numeric value: {SECRET}");
    let meta = ErrorMetadata::builder().code(CODE).message(message).custom("aws_request_id", "r-7").build();
    Box::new(TransactWriteItemsError::generic(meta))
}

fn failed(operation: &'static str) -> StoreError {
    StoreError { operation, table: "t".to_owned(), kind: CODE.to_owned(), source: sdk() }
}

fn unconfirmed() -> WriteError {
    WriteError::Unconfirmed { code: CODE.to_owned(), source: sdk() }
}

impl Store for Quoting {
    fn transact<'a>(
        &'a self,
        _items: Vec<TransactWriteItem>,
        _token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        let code = CODE.to_owned();
        let error = match self.refuses {
            true => TransactError::Refused { code, source: sdk() },
            false => TransactError::Unknown { code, source: sdk() },
        };
        Box::pin(async { Err(error) })
    }

    fn get<'a>(&'a self, _table: &'a str, _key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        Box::pin(async { Err(failed("GetItem")) })
    }

    fn page<'a>(&'a self, _of: Pages<'a>, _start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async { Err(failed("Scan")) })
    }

    fn put(&self, _put: Put) -> BoxFuture<'_, Result<(), WriteError>> {
        Box::pin(async { Err(unconfirmed()) })
    }

    fn update(&self, _update: Update) -> BoxFuture<'_, Result<(), WriteError>> {
        Box::pin(async { Err(unconfirmed()) })
    }

    fn delete_batch<'a>(
        &'a self,
        _table: &'a str,
        _keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        Box::pin(async { Err(failed("BatchWriteItem")) })
    }
}
