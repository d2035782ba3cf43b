use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, StreamSpecification,
    StreamViewType,
};

/// A table with string keys and a stream of new and old images.
#[derive(Debug, Clone, Copy)]
pub struct TableSpec<'a> {
    /// Its name; dynoxide wants three characters at least, as DynamoDB does.
    pub name: &'a str,
    /// The partition key's attribute.
    pub partition_key: &'a str,
    /// The sort key's attribute, if it has one.
    pub sort_key: Option<&'a str>,
}

/// Creates the table; emulators have it active at once.
///
/// # Errors
/// What the emulator said, or what the specification lacks.
pub async fn create_table(
    client: &Client,
    spec: TableSpec<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let keys = [(Some(spec.partition_key), KeyType::Hash), (spec.sort_key, KeyType::Range)];
    let mut call = client
        .create_table()
        .table_name(spec.name)
        .billing_mode(BillingMode::PayPerRequest)
        .stream_specification(
            StreamSpecification::builder()
                .stream_enabled(true)
                .stream_view_type(StreamViewType::NewAndOldImages)
                .build()?,
        );
    for (name, kind) in keys {
        if let Some(name) = name {
            call = call
                .attribute_definitions(string_attribute(name)?)
                .key_schema(KeySchemaElement::builder().attribute_name(name).key_type(kind).build()?);
        }
    }
    call.send().await?;
    Ok(())
}

fn string_attribute(name: &str) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build()
}
