use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::store::{Item, Store, StoreError};

/// Strongly consistent reads for a handler. It remembers nothing: a handler that is run again reads again.
///
/// # Examples
/// ```
/// # use aws_sdk_dynamodb::types::AttributeValue;
/// use oncebox::effect::{ReadError, Reads};
///
/// #[derive(serde::Deserialize)]
/// struct Stock {
///     available: u64,
/// }
///
/// async fn available(reads: &Reads, sku: &str) -> Result<u64, ReadError> {
///     let key = [("sku".to_owned(), AttributeValue::S(sku.to_owned()))];
///     let stock: Option<Stock> = reads.get_as("stock", key.into()).await?;
///     Ok(stock.map_or(0, |stock| stock.available))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Reads {
    store: Arc<dyn Store>,
}

/// A read that gave no answer, or an item of another shape.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// DynamoDB did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The item is there but does not fit the type.
    #[error("the item read from {table:?} does not have the expected shape")]
    Shape {
        /// The table.
        table: String,
        /// What serde_dynamo said.
        #[source]
        source: serde_dynamo::Error,
    },
}

impl Reads {
    /// Reads through `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// One item, or `None`.
    ///
    /// # Errors
    /// [`ReadError::Store`] when DynamoDB did not answer.
    pub async fn get(&self, table: &str, key: Item) -> Result<Option<Item>, ReadError> {
        Ok(self.store.get(table, key).await?)
    }

    /// One item as `T`, or `None`.
    ///
    /// # Errors
    /// [`ReadError::Store`] when DynamoDB did not answer, [`ReadError::Shape`] when the item does not fit.
    pub async fn get_as<T: DeserializeOwned>(&self, table: &str, key: Item) -> Result<Option<T>, ReadError> {
        let item = self.get(table, key).await?;
        item.map(serde_dynamo::from_item)
            .transpose()
            .map_err(|source| ReadError::Shape { table: table.to_owned(), source })
    }
}
