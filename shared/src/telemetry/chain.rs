//! An error's text without what it was made from.

use std::error::Error;

use aws_sdk_dynamodb::error::ErrorMetadata;

/// The error with its sources, in one line that quotes no payload.
///
/// Some errors quote what they could not read. Of those that are known to (`serde_json`, `serde_dynamo`, and what
/// AWS says about the content of a request) only what cannot quote is told: the kind, and the place. Every other
/// error is told in its own words. So an error type of yours that can get this far must not have payload in its
/// `Display`.
///
/// # Examples
/// ```
/// use oncebox::telemetry::chain;
///
/// let error = serde_json::from_str::<u64>(r#""4111 1111 1111 1111""#).unwrap_err();
/// assert!(error.to_string().contains("4111"));
/// assert_eq!(chain(&error), "the JSON does not have the expected shape (line 1, column 21)");
/// ```
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = words(error);
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&words(source));
        next = source.source();
    }
    text
}

/// One error of a chain.
fn words(error: &(dyn Error + 'static)) -> String {
    if let Some(json) = error.downcast_ref::<serde_json::Error>() {
        return of_json(json);
    }
    if let Some(meta) = error.downcast_ref::<ErrorMetadata>() {
        return of_aws(meta);
    }
    #[cfg(feature = "consumer")]
    if error.is::<serde_dynamo::Error>() {
        return "the item does not have the expected shape".to_owned();
    }
    error.to_string()
}

fn of_json(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "the JSON does not have the expected shape",
        serde_json::error::Category::Eof => "the JSON ends too early",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "this is no JSON",
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

fn of_aws(error: &ErrorMetadata) -> String {
    let code = error.code().unwrap_or("no code");
    let message = match error.message() {
        Some(message) if may_be_told(code, message) => message,
        Some(_) => "its message may quote the request",
        None => "no message",
    };
    let request = error.extra("aws_request_id").unwrap_or("unknown");
    format!("{code}: {message} (request {request})")
}

/// Whether a service's message is about the call, not about a value in it. Validation errors quote values ("The
/// parameter cannot be converted to a numeric value: …"), except in the forms listed here, which name attributes,
/// placeholders, types and sizes.
fn may_be_told(code: &str, message: &str) -> bool {
    const NO_VALUES: [&str; 9] = [
        "Invalid UpdateExpression",
        "Invalid ConditionExpression",
        "Invalid ProjectionExpression",
        "The provided expression",
        "The provided key element",
        "Value provided in ExpressionAttribute",
        "Item size",
        "Number overflow",
        "Transaction request cannot include multiple operations",
    ];
    let judges_content = ["Validation", "Serialization", "Invalid", "Malformed"];
    !judges_content.iter().any(|part| code.contains(part))
        || NO_VALUES.iter().any(|start| message.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aws(code: &str, message: &str) -> String {
        let meta = ErrorMetadata::builder().code(code).message(message).custom("aws_request_id", "r-1");
        chain(&aws_sdk_dynamodb::operation::get_item::GetItemError::generic(meta.build()))
    }

    #[test]
    fn what_aws_says_about_values_is_not_repeated() {
        let quoting =
            aws("ValidationException", "The parameter cannot be converted to a numeric value: SECRET");
        assert!(!quoting.contains("SECRET") && quoting.contains("r-1"), "{quoting}");
        let coral =
            aws("ValidationException", "1 validation error detected: Value 'SECRET' at 'tableName' failed");
        assert!(!coral.contains("SECRET"), "{coral}");
    }

    #[test]
    fn what_aws_says_about_the_call_is_told() {
        let denied = aws(
            "AccessDeniedException",
            "User: arn:aws:sts::1:x is not authorized to perform: dynamodb:GetItem",
        );
        assert!(denied.contains("not authorized to perform: dynamodb:GetItem"), "{denied}");
        let syntax = aws("ValidationException", "Invalid UpdateExpression: Syntax error; token: \"ADDD\"");
        assert!(syntax.contains("ADDD"), "{syntax}");
    }

    #[cfg(feature = "consumer")]
    #[test]
    fn what_serde_dynamo_says_about_an_item_is_not_repeated() {
        let value = aws_sdk_dynamodb::types::AttributeValue::S("SECRET".to_owned());
        let error = serde_dynamo::from_attribute_value::<_, bool>(value.clone());
        assert_eq!(chain(&error.unwrap_err()), "the item does not have the expected shape");
        let error = serde_dynamo::from_attribute_value::<_, std::net::IpAddr>(value);
        assert!(!chain(&error.unwrap_err()).contains("SECRET"));
    }

    #[test]
    fn errors_that_quote_what_they_read_keep_it_to_themselves() {
        let syntax = serde_json::from_str::<u8>("{SECRET").unwrap_err();
        let shape = serde_json::from_str::<u8>("\"SECRET\"").unwrap_err();
        assert!(shape.to_string().contains("SECRET"));
        for text in [chain(&syntax), chain(&shape)] {
            assert!(!text.contains("SECRET") && text.contains("line 1"), "{text}");
        }
    }
}
