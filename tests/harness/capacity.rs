use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::batch_write_item::{BatchWriteItemInput, BatchWriteItemOutput};
use aws_sdk_dynamodb::operation::scan::{ScanInput, ScanOutput};
use aws_sdk_dynamodb::operation::transact_write_items::{TransactWriteItemsInput, TransactWriteItemsOutput};
use aws_sdk_dynamodb::operation::update_item::{UpdateItemInput, UpdateItemOutput};
use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeSerializationInterceptorContextMut,
};

/// Asks DynamoDB what each call has consumed, and adds it up. For writes, single updates and scans; other operations
/// count as calls only. Clones are one meter.
#[derive(Debug, Clone, Default)]
pub struct CapacityMeter(Arc<Mutex<Consumed>>);

/// What calls have consumed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Consumed {
    /// Calls by operation.
    pub calls: BTreeMap<String, usize>,
    /// Capacity units by table, indexes included.
    pub units: BTreeMap<String, f64>,
}

impl CapacityMeter {
    /// What was consumed since the last call of this.
    #[must_use]
    pub fn take(&self) -> Consumed {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Consumed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, operation: &str, consumed: &[ConsumedCapacity]) {
        let mut all = self.lock();
        *all.calls.entry(operation.to_owned()).or_default() += 1;
        for consumed in consumed {
            let table = consumed.table_name().unwrap_or_default().to_owned();
            *all.units.entry(table).or_default() += consumed.capacity_units().unwrap_or_default();
        }
    }
}

impl Intercept for CapacityMeter {
    fn name(&self) -> &'static str {
        "CapacityMeter"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let total = Some(ReturnConsumedCapacity::Total);
        let input = context.input_mut();
        if let Some(input) = input.downcast_mut::<TransactWriteItemsInput>() {
            input.return_consumed_capacity = total;
        } else if let Some(input) = input.downcast_mut::<BatchWriteItemInput>() {
            input.return_consumed_capacity = total;
        } else if let Some(input) = input.downcast_mut::<UpdateItemInput>() {
            input.return_consumed_capacity = total;
        } else if let Some(input) = input.downcast_mut::<ScanInput>() {
            input.return_consumed_capacity = total;
        }
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Ok(output) = context.output_or_error() else {
            self.count("failed", &[]);
            return Ok(());
        };
        if let Some(output) = output.downcast_ref::<TransactWriteItemsOutput>() {
            self.count("TransactWriteItems", output.consumed_capacity());
        } else if let Some(output) = output.downcast_ref::<BatchWriteItemOutput>() {
            self.count("BatchWriteItem", output.consumed_capacity());
        } else if let Some(output) = output.downcast_ref::<UpdateItemOutput>() {
            self.count("UpdateItem", output.consumed_capacity().map_or(&[], std::slice::from_ref));
        } else if let Some(output) = output.downcast_ref::<ScanOutput>() {
            self.count("Scan", output.consumed_capacity().map_or(&[], std::slice::from_ref));
        } else {
            self.count("other", &[]);
        }
        Ok(())
    }
}
