use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{
    AttributeValue, DeleteRequest, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
    WriteRequest,
};
use futures::future::BoxFuture;

use super::error::BoxError;
use super::{
    CancelCode, CancelReason, Item, PAGE, Page, Pages, Store, StoreError, TransactError, WriteError,
};

/// [`Store`] over the AWS SDK.
#[derive(Debug, Clone)]
pub struct DynamoStore {
    client: Client,
    /// For single conditional writes. An attempt that was applied and whose answer got lost makes the SDK's own next
    /// attempt fail its condition; only who has seen the first one can tell that from somebody else's write.
    one_attempt: Client,
}

impl DynamoStore {
    /// Takes a configured client; share one HTTP client between all SDK clients of a function. Its retries are used for
    /// everything but [`put`](Store::put) and [`update`](Store::update), which are one attempt each.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let config = client.config().to_builder().retry_config(RetryConfig::disabled()).build();
        Self { client, one_attempt: Client::from_conf(config) }
    }
}

impl Store for DynamoStore {
    fn transact<'a>(
        &'a self,
        items: Vec<TransactWriteItem>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<(), TransactError>> {
        Box::pin(async move {
            let call = self
                .client
                .transact_write_items()
                .set_transact_items(Some(items))
                .client_request_token(token);
            call.send().await.map(|_| ()).map_err(TransactError::from)
        })
    }

    fn get<'a>(&'a self, table: &'a str, key: Item) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        Box::pin(async move {
            let call = self.client.get_item().table_name(table).set_key(Some(key)).consistent_read(true);
            call.send().await.map(|answer| answer.item).map_err(|error| store_error("GetItem", table, error))
        })
    }

    fn put<'a>(&'a self, put: Put) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let call = self
                .one_attempt
                .put_item()
                .table_name(put.table_name)
                .set_item(Some(put.item))
                .set_condition_expression(put.condition_expression)
                .set_expression_attribute_names(put.expression_attribute_names)
                .set_expression_attribute_values(put.expression_attribute_values)
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            call.send().await.map(|_| ()).map_err(|error| {
                write_error(error, |error| match error {
                    PutItemError::ConditionalCheckFailedException(failed) => Some(failed),
                    _ => None,
                })
            })
        })
    }

    fn update<'a>(&'a self, update: Update) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let call = self
                .one_attempt
                .update_item()
                .table_name(update.table_name)
                .set_key(Some(update.key))
                .update_expression(update.update_expression)
                .set_condition_expression(update.condition_expression)
                .set_expression_attribute_names(update.expression_attribute_names)
                .set_expression_attribute_values(update.expression_attribute_values)
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            call.send().await.map(|_| ()).map_err(|error| {
                write_error(error, |error| match error {
                    UpdateItemError::ConditionalCheckFailedException(failed) => Some(failed),
                    _ => None,
                })
            })
        })
    }

    fn page<'a>(&'a self, of: Pages<'a>, start: Option<Item>) -> BoxFuture<'a, Result<Page, StoreError>> {
        let limit = i32::try_from(PAGE).unwrap_or(i32::MAX);
        Box::pin(async move {
            let (table, index) = match of {
                Pages::Table(table) => (table, None),
                Pages::Index { table, index } => (table, Some(index)),
                Pages::Partition { table, index, key, value } => {
                    let call = self
                        .client
                        .query()
                        .table_name(table)
                        .set_index_name(index.map(str::to_owned))
                        .consistent_read(index.is_none())
                        .key_condition_expression("#key = :value")
                        .expression_attribute_names("#key", key)
                        .expression_attribute_values(":value", AttributeValue::S(value.to_owned()))
                        .set_exclusive_start_key(start);
                    let answer = call.limit(limit).send().await;
                    let answer = answer.map_err(|error| store_error("Query", table, error))?;
                    return Ok(Page {
                        items: answer.items.unwrap_or_default(),
                        next: answer.last_evaluated_key,
                    });
                }
            };
            let call = self.client.scan().table_name(table).set_index_name(index.map(str::to_owned));
            let call = call.consistent_read(index.is_none()).set_exclusive_start_key(start).limit(limit);
            let answer = call.send().await.map_err(|error| store_error("Scan", table, error))?;
            Ok(Page { items: answer.items.unwrap_or_default(), next: answer.last_evaluated_key })
        })
    }

    fn delete_batch<'a>(
        &'a self,
        table: &'a str,
        keys: Vec<Item>,
    ) -> BoxFuture<'a, Result<Vec<Item>, StoreError>> {
        Box::pin(async move {
            let fail = |error: BoxError, kind: &str| StoreError {
                operation: "BatchWriteItem",
                table: table.to_owned(),
                kind: kind.to_owned(),
                source: error,
            };
            let requests = keys
                .into_iter()
                .map(|key| {
                    let delete = DeleteRequest::builder().set_key(Some(key)).build()?;
                    Ok(WriteRequest::builder().delete_request(delete).build())
                })
                .collect::<Result<Vec<_>, aws_sdk_dynamodb::error::BuildError>>()
                .map_err(|error| fail(error.into(), "request"))?;
            let answer = self
                .client
                .batch_write_item()
                .request_items(table, requests)
                .send()
                .await
                .map_err(|error| store_error("BatchWriteItem", table, error))?;
            let left =
                answer.unprocessed_items.and_then(|mut tables| tables.remove(table)).unwrap_or_default();
            Ok(left
                .into_iter()
                .filter_map(|request| request.delete_request.map(|delete| delete.key))
                .collect())
        })
    }
}

/// The service's code, or the phase in which the SDK gave up.
fn code_of<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> String {
    match error {
        SdkError::TimeoutError(_) => "timeout".to_owned(),
        SdkError::DispatchFailure(_) => "connection".to_owned(),
        SdkError::ConstructionFailure(_) => "request".to_owned(),
        SdkError::ServiceError(service) => service.err().code().unwrap_or("response").to_owned(),
        _ => "response".to_owned(),
    }
}

fn store_error<E>(operation: &'static str, table: &str, error: SdkError<E>) -> StoreError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    StoreError { operation, table: table.to_owned(), kind: code_of(&error), source: error.into() }
}

/// Codes after which nothing was written, and a later identical call may succeed.
///
/// Missing permissions and missing tables are here on purpose: they are the deployment's fault, not the
/// event's, and must not send an event to the quarantine.
const NOT_NOW: &[&str] = &[
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "LimitExceededException",
    "TransactionConflictException",
    "ReplicatedWriteConflictException",
    "AccessDeniedException",
    "UnrecognizedClientException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "ResourceNotFoundException",
    "request",
];

/// For a transaction of your own: [`InboxKey::verdict`](crate::inbox::InboxKey::verdict) reads it.
impl From<SdkError<TransactWriteItemsError>> for TransactError {
    fn from(error: SdkError<TransactWriteItemsError>) -> Self {
        if let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) =
            error.as_service_error()
        {
            let reasons = cancelled.cancellation_reasons().iter().map(|reason| CancelReason {
                code: CancelCode::parse(reason.code()),
                item: reason.item().filter(|item| !item.is_empty()).cloned(),
            });
            return Self::Cancelled(reasons.collect());
        }
        let code = code_of(&error);
        match code.as_str() {
            // A token met another request: this one was not carried out, and will not be under this token.
            "ValidationException" | "IdempotentParameterMismatchException" => {
                Self::Refused { code, source: error.into() }
            }
            known if NOT_NOW.contains(&known) => Self::Throttled { code, source: error.into() },
            _ => Self::Unknown { code, source: error.into() },
        }
    }
}

fn write_error<E>(
    error: SdkError<E>,
    condition: impl Fn(&E) -> Option<&ConditionalCheckFailedException>,
) -> WriteError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    if let Some(failed) = error.as_service_error().and_then(condition) {
        return WriteError::ConditionFailed(failed.item().filter(|item| !item.is_empty()).cloned());
    }
    let code = code_of(&error);
    match code.as_str() {
        "ValidationException" | "ItemCollectionSizeLimitExceededException" => {
            WriteError::Refused { code, source: error.into() }
        }
        known if NOT_NOW.contains(&known) => WriteError::Throttled { code, source: error.into() },
        _ => WriteError::Unconfirmed { code, source: error.into() },
    }
}
