//! Who calls: the identity that API Gateway has proven, never what the caller says of itself.

use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};

/// Callers of an API that asks for no identity: they are all one.
const ANYBODY: &str = "anybody";

/// API Gateway has let the caller in, and does not say who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the authorizer names no caller: a JWT needs iss and sub, a Lambda authorizer has to put principalId into its context"
)]
pub(crate) struct Unnamed;

/// A name for the caller, the same for each of its requests, and nobody else's. Different ways to prove an identity have
/// different prefixes.
pub(crate) fn of(request: &Request) -> Result<String, Unnamed> {
    let Some(RequestContext::ApiGatewayV2(context)) = request.request_context_ref() else {
        return Ok(ANYBODY.to_owned());
    };
    if let Some(authorizer) = &context.authorizer {
        if let Some(iam) = &authorizer.iam {
            let pool = iam.cognito_identity.as_ref().and_then(|cognito| cognito.identity_id.as_deref());
            // All users of an identity pool share a role, and so an ARN.
            if let Some(identity) = said(pool) {
                return Ok(format!("cognito:{identity}"));
            }
            let arn = said(iam.user_arn.as_deref()).ok_or(Unnamed)?;
            return Ok(format!("iam:{}", without_session(arn)));
        }
        if let Some(jwt) = &authorizer.jwt {
            let claim = |name: &str| said(jwt.claims.get(name).map(String::as_str)).ok_or(Unnamed);
            return Ok(pair("jwt", claim("iss")?, claim("sub")?));
        }
        let principal = authorizer.fields.get("principalId").and_then(|id| id.as_str());
        return said(principal).map(|principal| format!("lambda:{principal}")).ok_or(Unnamed);
    }
    match context.authentication.as_ref().and_then(|proof| proof.client_cert.as_ref()) {
        Some(certificate) => {
            let subject = said(certificate.subject_dn.as_deref()).ok_or(Unnamed)?;
            let issuer = said(certificate.issuer_dn.as_deref()).ok_or(Unnamed)?;
            Ok(pair("mtls", issuer, subject))
        }
        None => Ok(ANYBODY.to_owned()),
    }
}

fn said(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// A subject is unique within its issuer. The issuer's own `#` are escaped, so that the first one parts the two.
fn pair(how: &str, issuer: &str, subject: &str) -> String {
    format!("{how}:{}#{subject}", issuer.replace('%', "%25").replace('#', "%23"))
}

/// A role's session is another one after each restart of the caller, and the role is who it is.
fn without_session(arn: &str) -> &str {
    let resource = arn.splitn(6, ':').nth(5).unwrap_or_default();
    match (resource.strip_prefix("assumed-role/"), arn.rsplit_once('/')) {
        (Some(role), Some((without, _))) if role.contains('/') => without,
        _ => arn,
    }
}

#[cfg(test)]
mod tests {
    use lambda_http::http::Request as HttpRequest;
    use serde_json::{Value, json};

    use super::*;

    fn called(authorizer: Value, authentication: Value) -> Result<String, Unnamed> {
        let context = json!({"routeKey": "POST /orders", "timeEpoch": 0, "authorizer": authorizer,
            "authentication": authentication,
            "http": {"method": "POST", "path": "/orders", "protocol": "HTTP/1.1", "sourceIp": "", "userAgent": ""}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let request = HttpRequest::builder().body(lambda_http::Body::Empty).unwrap();
        of(&request.with_request_context(context))
    }

    fn client(authorizer: Value) -> String {
        called(authorizer, Value::Null).unwrap()
    }

    fn iam(arn: &str) -> String {
        client(json!({"iam": {"userArn": arn, "accessKey": "AKIA"}}))
    }

    fn jwt(issuer: &str, subject: &str) -> String {
        client(json!({"jwt": {"claims": {"iss": issuer, "sub": subject}}}))
    }

    #[test]
    fn a_caller_is_who_api_gateway_says_it_is() {
        assert_eq!(iam("arn:aws:iam::1:user/shop"), "iam:arn:aws:iam::1:user/shop");
        assert_eq!(iam("arn:aws:sts::1:assumed-role/shop/i-1"), "iam:arn:aws:sts::1:assumed-role/shop");
        assert_eq!(iam("arn:aws:sts::1:assumed-role/shop/i-2"), iam("arn:aws:sts::1:assumed-role/shop/i-3"));
        assert_eq!(jwt("https://i", "s"), "jwt:https://i#s");
        assert_eq!(client(json!({"lambda": {"principalId": "p"}})), "lambda:p");
        assert_eq!(client(Value::Null), "anybody");
        let certificate =
            json!({"clientCert": {"issuerDN": "CN=ca", "subjectDN": "CN=shop", "validity": {}}});
        assert_eq!(called(Value::Null, certificate).unwrap(), "mtls:CN=ca#CN=shop");
        let no_issuer = json!({"clientCert": {"issuerDN": "", "subjectDN": "CN=shop", "validity": {}}});
        assert!(called(Value::Null, no_issuer).is_err());
    }

    #[test]
    fn two_callers_have_two_names() {
        // All users of an identity pool have one role.
        let pool = |identity: &str| {
            client(json!({"iam": {"userArn": "arn:aws:sts::1:assumed-role/pool/CognitoIdentityCredentials",
                "cognitoIdentity": {"amr": ["authenticated"], "identityId": identity, "identityPoolId": "p"}}}))
        };
        assert_ne!(pool("eu-central-1:a"), pool("eu-central-1:b"));
        assert_ne!(jwt("a#b", "c"), jwt("a", "b#c"));
        // A user's path may hold anything.
        let user = |name: &str| iam(&format!("arn:aws:iam::1:user/x:assumed-role/y/{name}"));
        assert_ne!(user("alice"), user("bob"));
        assert_ne!(iam("anybody"), client(Value::Null));
    }

    /// Else all such callers would be one client, and read each other's answers.
    #[test]
    fn a_caller_that_is_proven_and_not_named_is_not_anybody() {
        for nameless in [
            json!({}),
            json!({"jwt": {"claims": {"sub": "s"}}}),
            json!({"jwt": {"claims": {"iss": "https://i", "client_id": "c", "sub": ""}}}),
            json!({"lambda": {"tenant": "t"}}),
            json!({"lambda": {"principalId": ""}}),
            json!({"lambda": {"principalId": 7}}),
            json!({"iam": {"accessKey": "AKIA"}}),
            json!({"iam": {"userArn": ""}}),
        ] {
            assert!(called(nameless.clone(), Value::Null).is_err(), "{nameless}");
        }
    }
}
