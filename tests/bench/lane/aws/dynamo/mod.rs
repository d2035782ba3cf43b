//! DynamoDB: real tables in memory, and of its operations those that the contestants use.

mod expression;
mod request;
mod tables;
mod units;
mod value;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::json;

use super::Answer;
use request::{BatchAction, BatchGet, BatchWrite, Get, Kind, Transact, Write};
use tables::Failed;
pub(crate) use tables::Tables;
pub(crate) use units::Units;
pub(crate) use value::{Item, Value};

/// Actions that one transaction may have.
const MAX_ACTIONS: usize = 100;
/// Writes that `BatchWriteItem` takes in one call.
const MAX_WRITES: usize = 25;
/// Keys that `BatchGetItem` takes in one call.
const MAX_READS: usize = 100;

/// The service.
#[derive(Debug, Default)]
pub(crate) struct Dynamo(Mutex<Tables>);

impl Dynamo {
    pub(crate) fn new(tables: Tables) -> Self {
        Self(Mutex::new(tables))
    }

    /// The tables as they are now.
    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one call.
    ///
    /// # Errors
    /// When the call has something that is not known here, or that DynamoDB would never take.
    pub(super) fn answer(&self, operation: &str, body: &[u8]) -> Result<Answer, String> {
        match operation {
            "TransactWriteItems" => self.transact(read::<Transact>(body)?.writes()),
            "PutItem" => self.write(Kind::Put, read(body)?),
            "UpdateItem" => self.write(Kind::Update, read(body)?),
            "DeleteItem" => self.write(Kind::Delete, read(body)?),
            "GetItem" => {
                let Get { table_name, key, .. } = read(body)?;
                let mut tables = self.tables();
                let found = tables.get(&table_name, &key)?;
                Ok(Answer::json(&found.map_or(json!({}), |item| json!({ "Item": item }))))
            }
            "BatchGetItem" => self.batch_get(read(body)?),
            "BatchWriteItem" => self.batch_write(read(body)?),
            _ => Err("the operation is not known here".to_owned()),
        }
    }

    fn transact(&self, writes: Vec<(Kind, Write)>) -> Result<Answer, String> {
        within(writes.len(), MAX_ACTIONS)?;
        let checked = self.tables().transact(writes)?;
        if checked.iter().all(Result::is_ok) {
            return Ok(Answer::json(&json!({})));
        }
        let codes: Vec<&str> = checked.iter().map(code).collect();
        let reasons: Vec<_> = checked
            .iter()
            .map(|checked| match checked {
                Ok(()) => json!({ "Code": "None" }),
                Err(None) => json!({ "Code": code(checked), "Message": CONDITION }),
                Err(Some(item)) => json!({ "Code": code(checked), "Message": CONDITION, "Item": item }),
            })
            .collect();
        Ok(Answer::refusal(&json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": format!(
                "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
                codes.join(", ")
            ),
            "CancellationReasons": reasons,
        })))
    }

    fn write(&self, kind: Kind, write: Write) -> Result<Answer, String> {
        let failed = match self.tables().write(kind, write)? {
            Ok(()) => return Ok(Answer::json(&json!({}))),
            Err(failed) => failed,
        };
        let mut refusal = json!({
            "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
            "message": CONDITION,
        });
        if let (Some(item), Some(fields)) = (failed, refusal.as_object_mut()) {
            fields.insert("Item".to_owned(), json!(item));
        }
        Ok(Answer::refusal(&refusal))
    }

    fn batch_get(&self, request: BatchGet) -> Result<Answer, String> {
        within(request.request_items.values().map(|keys| keys.keys.len()).sum(), MAX_READS)?;
        let mut tables = self.tables();
        let mut responses = serde_json::Map::new();
        for (table, keys) in request.request_items {
            let mut found = Vec::with_capacity(keys.keys.len());
            for key in &keys.keys {
                found.extend(tables.get(&table, key)?.map(|item| json!(item)));
            }
            responses.insert(table, json!(found));
        }
        Ok(Answer::json(&json!({ "Responses": responses, "UnprocessedKeys": {} })))
    }

    fn batch_write(&self, request: BatchWrite) -> Result<Answer, String> {
        within(request.request_items.values().map(Vec::len).sum(), MAX_WRITES)?;
        let mut tables = self.tables();
        for (table, actions) in request.request_items {
            for action in actions {
                let (kind, write) = match action {
                    BatchAction::PutRequest { item } => (Kind::Put, Write::put(table.clone(), item)),
                    BatchAction::DeleteRequest { key } => (Kind::Delete, Write::delete(table.clone(), key)),
                };
                // Without a condition nothing stops it.
                let _ = tables.write(kind, write)?;
            }
        }
        Ok(Answer::json(&json!({ "UnprocessedItems": {} })))
    }
}

const CONDITION: &str = "The conditional request failed";

fn code(checked: &Result<(), Failed>) -> &'static str {
    if checked.is_ok() { "None" } else { "ConditionalCheckFailed" }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

fn within(number: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&number) { Ok(()) } else { Err(format!("{number} parts, of 1 to {most}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dynamo() -> Dynamo {
        let mut tables = Tables::default();
        tables.create("inbox", &["pk", "sk"]);
        tables.create("accounts", &["account_id"]);
        let account = serde_json::from_str(r#"{"account_id": {"S": "a"}}"#).unwrap();
        tables.seed("accounts", account).unwrap();
        Dynamo::new(tables)
    }

    fn charge(id: &str, account: &str) -> String {
        json!({ "TransactItems": [
            { "Put": {
                "TableName": "inbox",
                "Item": { "pk": { "S": id }, "sk": { "S": "billing" }, "body_hash": { "S": "h" } },
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            } },
            { "Update": {
                "TableName": "accounts",
                "Key": { "account_id": { "S": account } },
                "UpdateExpression": "ADD entries :one",
                "ConditionExpression": "attribute_exists(account_id)",
                "ExpressionAttributeValues": { ":one": { "N": "1" } },
            } },
        ], "ClientRequestToken": "t" })
        .to_string()
    }

    fn entries(dynamo: &Dynamo) -> Option<i128> {
        dynamo.tables().rows("accounts").find_map(|row| row.get("entries").and_then(Value::whole))
    }

    fn text(answer: &Answer) -> serde_json::Value {
        serde_json::from_slice(&answer.body).unwrap()
    }

    #[test]
    fn a_duplicate_is_cancelled_at_its_position_with_what_is_there() {
        let dynamo = dynamo();
        let call = charge("e1", "a");
        assert_eq!(dynamo.answer("TransactWriteItems", call.as_bytes()).unwrap().status, 200);
        let again = dynamo.answer("TransactWriteItems", call.as_bytes()).unwrap();
        assert_eq!(again.status, 400);
        let reasons = text(&again)["CancellationReasons"].clone();
        assert_eq!(reasons[0]["Item"]["body_hash"], json!({ "S": "h" }));
        assert_eq!(reasons[1], json!({ "Code": "None" }));
        assert_eq!(entries(&dynamo), Some(1));
        // Two small items in each of two transactions, the cancelled one included.
        assert_eq!(dynamo.tables().units().write, 8);
    }

    #[test]
    fn a_failed_effect_leaves_no_inbox_row() {
        let dynamo = dynamo();
        let answer = dynamo.answer("TransactWriteItems", charge("e1", "unknown").as_bytes()).unwrap();
        assert_eq!(text(&answer)["CancellationReasons"][0], json!({ "Code": "None" }));
        assert_eq!(text(&answer)["CancellationReasons"][1]["Code"], "ConditionalCheckFailed");
        assert_eq!(dynamo.tables().rows("inbox").count(), 0);
        assert_eq!(entries(&dynamo), None);
    }

    #[test]
    fn what_dynamodb_would_not_take_is_not_taken() {
        let dynamo = dynamo();
        let twice = charge("e1", "a").replace("inbox", "accounts").replace("\"pk\":", "\"account_id\":");
        let twice = twice.replace("e1", "a");
        assert!(dynamo.answer("TransactWriteItems", twice.as_bytes()).unwrap_err().contains("two actions"));
        let odd = r#"{"TableName": "inbox", "Item": {}, "Expected": {}}"#;
        assert!(dynamo.answer("PutItem", odd.as_bytes()).unwrap_err().contains("Expected"));
        assert!(dynamo.answer("Query", b"{}").is_err());
        let delete = json!({ "DeleteRequest": { "Key": { "account_id": { "S": "a" } } } });
        let many = json!({ "RequestItems": { "accounts": vec![delete; 26] } });
        assert!(dynamo.answer("BatchWriteItem", many.to_string().as_bytes()).is_err());
        assert_eq!(dynamo.tables().rows("accounts").count(), 1);
    }

    #[test]
    fn a_batch_deletes() {
        let dynamo = dynamo();
        let delete = json!({ "DeleteRequest": { "Key": { "account_id": { "S": "a" } } } });
        let call = json!({ "RequestItems": { "accounts": [delete] } }).to_string();
        assert_eq!(dynamo.answer("BatchWriteItem", call.as_bytes()).unwrap().status, 200);
        assert_eq!(dynamo.tables().rows("accounts").count(), 0);
    }
}
