//! Who calls: the identity that API Gateway has proven, never what the caller says of itself.

use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};

/// Callers of an API that asks for no identity: they are all one.
const ANYBODY: &str = "anybody";

/// A name for the caller, the same for each of its requests.
pub(crate) fn of(request: &Request) -> String {
    let Some(RequestContext::ApiGatewayV2(context)) = request.request_context_ref() else {
        return ANYBODY.to_owned();
    };
    let Some(authorizer) = &context.authorizer else { return ANYBODY.to_owned() };
    if let Some(arn) = authorizer.iam.as_ref().and_then(|iam| iam.user_arn.as_deref()) {
        return format!("iam:{}", without_session(arn));
    }
    if let Some(jwt) = &authorizer.jwt
        && let (Some(issuer), Some(subject)) = (jwt.claims.get("iss"), jwt.claims.get("sub"))
    {
        return format!("jwt:{issuer}#{subject}");
    }
    match authorizer.fields.get("principalId").and_then(|id| id.as_str()) {
        Some(principal) => format!("lambda:{principal}"),
        None => ANYBODY.to_owned(),
    }
}

/// A role's session is another one after each restart of the caller, and the role is who it is.
fn without_session(arn: &str) -> &str {
    match (arn.split_once(":assumed-role/"), arn.rsplit_once('/')) {
        (Some((_, role)), Some((without, _))) if role.contains('/') => without,
        _ => arn,
    }
}

#[cfg(test)]
mod tests {
    use lambda_http::http::Request as HttpRequest;
    use serde_json::{Value, json};

    use super::*;

    fn client(authorizer: Value) -> String {
        let context = json!({"routeKey": "POST /orders", "timeEpoch": 0, "authorizer": authorizer,
            "http": {"method": "POST", "path": "/orders", "protocol": "HTTP/1.1", "sourceIp": "", "userAgent": ""}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let request = HttpRequest::builder().body(lambda_http::Body::Empty).unwrap();
        of(&request.with_request_context(context))
    }

    #[test]
    fn a_caller_is_who_api_gateway_says_it_is() {
        let iam = |arn: &str| client(json!({"iam": {"userArn": arn, "accessKey": "AKIA"}}));
        assert_eq!(iam("arn:aws:iam::1:user/shop"), "iam:arn:aws:iam::1:user/shop");
        assert_eq!(iam("arn:aws:sts::1:assumed-role/shop/i-1"), "iam:arn:aws:sts::1:assumed-role/shop");
        assert_eq!(iam("arn:aws:sts::1:assumed-role/shop/i-2"), iam("arn:aws:sts::1:assumed-role/shop/i-3"));
        assert_eq!(client(json!({"jwt": {"claims": {"iss": "https://i", "sub": "s"}}})), "jwt:https://i#s");
        assert_eq!(client(json!({"lambda": {"principalId": "p"}})), "lambda:p");
        for nobody in [json!(null), json!({}), json!({"jwt": {"claims": {"sub": "s"}}})] {
            assert_eq!(client(nobody), "anybody");
        }
    }
}
