//! RFC 9457 problem details.

use lambda_http::http::{StatusCode, header};
use lambda_http::{Body, Response};
use serde_json::json;

/// Why a request was not carried out.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    detail: String,
    pub(crate) errors: Vec<FieldError>,
    headers: Vec<(header::HeaderName, &'static str)>,
    /// For the log, not for the client.
    pub(crate) cause: Option<String>,
}

/// One field that is wrong.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) field: String,
    pub(crate) problem: String,
}

impl FieldError {
    pub(crate) fn new(field: &str, problem: &str) -> Self {
        Self { field: field.to_owned(), problem: problem.to_owned() }
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), errors: Vec::new(), headers: Vec::new(), cause: None }
    }

    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        let names: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
        let detail = format!("The order cannot be accepted: see {}", names.join(", "));
        Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail) }
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        let place = format!("line {}, column {}", error.line(), error.column());
        Self::new(StatusCode::BAD_REQUEST, format!("The body must be a JSON object ({place})"))
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let headers = vec![(header::ALLOW, allow)];
        Self {
            headers,
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("Only {allow} is possible here"))
        }
    }

    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The request could not be carried out")
    }

    /// Nothing was written; the client may try again.
    pub(crate) fn busy(cause: String) -> Self {
        let headers = vec![(header::RETRY_AFTER, "1")];
        let detail = "Nothing was written; please try again";
        Self { headers, cause: Some(cause), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail) }
    }

    /// Nothing was written: the same request is most likely being carried out.
    pub(crate) fn concurrent(cause: String) -> Self {
        let headers = vec![(header::RETRY_AFTER, "1")];
        let detail = "A request with this Idempotency-Key is being carried out; please try again";
        Self { headers, cause: Some(cause), ..Self::new(StatusCode::CONFLICT, detail) }
    }

    pub(crate) fn because(mut self, cause: String) -> Self {
        self.cause = Some(cause);
        self
    }

    pub(crate) fn into_response(self) -> Result<Response<Body>, lambda_http::http::Error> {
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Problem"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if !self.errors.is_empty()
            && let Some(object) = body.as_object_mut()
        {
            let errors =
                self.errors.iter().map(|error| json!({"field": error.field, "detail": error.problem}));
            object.insert("errors".to_owned(), errors.collect());
        }
        let mut response =
            Response::builder().status(self.status).header(header::CONTENT_TYPE, "application/problem+json");
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(Body::Text(body.to_string()))
    }
}
