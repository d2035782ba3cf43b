use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
};

/// A table with string keys and a stream of new and old images.
#[derive(Debug, Clone)]
pub struct TableSpec<'a> {
    /// Its name; dynoxide wants three characters at least, as DynamoDB does.
    pub name: &'a str,
    /// The partition key's attribute.
    pub partition_key: &'a str,
    /// The sort key's attribute, if it has one.
    pub sort_key: Option<&'a str>,
    /// A global secondary index with all attributes.
    pub index: Option<IndexSpec<'a>>,
}

/// A global secondary index.
#[derive(Debug, Clone)]
pub struct IndexSpec<'a> {
    /// Its name.
    pub name: &'a str,
    /// The partition key's attribute, a string.
    pub partition_key: &'a str,
    /// The sort key's attribute.
    pub sort_key: &'a str,
    /// The sort key's type.
    pub sort_type: ScalarAttributeType,
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
                .attribute_definitions(attribute(name, ScalarAttributeType::S)?)
                .key_schema(key(name, kind)?);
        }
    }
    if let Some(index) = spec.index {
        // The table's own key attributes are defined already.
        for (name, kind) in [(index.partition_key, ScalarAttributeType::S), (index.sort_key, index.sort_type)]
        {
            if name != spec.partition_key && Some(name) != spec.sort_key {
                call = call.attribute_definitions(attribute(name, kind)?);
            }
        }
        call = call.global_secondary_indexes(
            GlobalSecondaryIndex::builder()
                .index_name(index.name)
                .key_schema(key(index.partition_key, KeyType::Hash)?)
                .key_schema(key(index.sort_key, KeyType::Range)?)
                .projection(Projection::builder().projection_type(ProjectionType::All).build())
                .build()?,
        );
    }
    call.send().await?;
    Ok(())
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn key(name: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}
