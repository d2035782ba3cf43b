use std::fmt;
use std::sync::Arc;

use super::request::check_url;
use super::{Provider, Transport};
use crate::config::Reader;

/// What a function that calls a provider is told by its environment, read in one place.
///
/// A URL or a token that could never be used stops the function from starting: each event would be quarantined for it.
///
/// # Examples
/// ```
/// use oncebox::config::Reader;
/// use oncebox::effect::remote::Config;
///
/// let mut reader = Reader::new(|name| match name {
///     "REMOTE_TABLE" => Some("remote".to_owned()),
///     "PAYMENT_URL" => Some("http://pay.example".to_owned()),
///     _ => None,
/// });
/// let config = Config::read(&mut reader, "PAYMENT");
/// assert!(reader.finish(config).is_err_and(|error| error.to_string().contains("PAYMENT_URL begins with http://")));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// `REMOTE_TABLE`: calls that have begun.
    pub table: String,
    /// `{name}_URL`: where the provider is, without a slash at the end, and without query.
    pub url: String,
    /// `{name}_TOKEN`: sent as a bearer token; none when absent or empty.
    pub token: Option<String>,
    /// `{name}_PLAIN_HTTP`, default `off`: whether the URL may be `http://` on another machine.
    pub plain_http: bool,
}

impl Config {
    /// Reads the settings of the provider `name`, such as `PAYMENT`, and reports what is missing or bad to `reader`.
    #[must_use]
    pub fn read(reader: &mut Reader, name: &str) -> Self {
        let of = |what: &str| format!("{name}_{what}");
        let plain_http = reader.switch(&of("PLAIN_HTTP"), false);
        let url = reader.text(&of("URL")).trim().trim_end_matches('/').to_owned();
        if !url.is_empty() {
            match check_url(&url, plain_http) {
                Err(what) => reader.report(&of("URL"), what),
                Ok(()) if url.contains(['?', '#']) => {
                    reader.report(&of("URL"), "has a query or a fragment, and a path is to come after it");
                }
                Ok(()) => {}
            }
        }
        let token: String = reader.or(&of("TOKEN"), String::new());
        // An end of line, above all: it comes with a secret that was read from a file.
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            reader.report(
                &of("TOKEN"),
                "has characters that no bearer token has, such as a space or an end of line",
            );
        }
        let token = Some(token).filter(|token| !token.is_empty());
        Self { table: reader.text("REMOTE_TABLE"), url, token, plain_http }
    }

    /// The provider, called through `transport`.
    #[must_use]
    pub fn provider(&self, transport: Arc<dyn Transport>) -> Provider {
        let provider = Provider::new(self.table.as_str(), transport);
        let provider = if self.plain_http { provider.allow_plain_http() } else { provider };
        match &self.token {
            Some(token) => provider.bearer(token.as_str()),
            None => provider,
        }
    }
}

/// Without the token.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("table", &self.table)
            .field("url", &self.url)
            .field("token", &self.token.as_ref().map(|_| "<hidden>"))
            .field("plain_http", &self.plain_http)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a URL, a token and a choice; or the configuration.
    fn read(url: &'static str, token: &'static str, plain: &'static str) -> Result<Config, String> {
        let mut reader = Reader::new(move |name| match name {
            "REMOTE_TABLE" => Some("remote".to_owned()),
            "MAIL_URL" => Some(url.to_owned()),
            "MAIL_TOKEN" => Some(token.to_owned()),
            "MAIL_PLAIN_HTTP" => Some(plain.to_owned()),
            _ => None,
        });
        let config = Config::read(&mut reader, "MAIL");
        reader.finish(config).map_err(|error| error.to_string())
    }

    #[test]
    fn what_could_never_be_sent_stops_the_start_and_is_not_repeated() {
        let fine = read(" https://mail.example/v1/ ", "", "off").unwrap();
        assert_eq!((fine.url.as_str(), fine.token), ("https://mail.example/v1", None));
        assert_eq!(read("http://10.1.2.3", "t", "on").unwrap().token.as_deref(), Some("t"));
        for (url, token, names) in [
            ("http://mail.example", "t", "MAIL_URL"),
            ("mail.example", "t", "MAIL_URL"),
            ("https://mail.example:99999", "t", "MAIL_URL"),
            ("https://s3cret@mail.example", "t", "MAIL_URL"),
            ("https://mail.example?key=s3cret", "t", "MAIL_URL"),
            ("https://mail.example", "s3cret\ns3cret", "MAIL_TOKEN"),
            ("https://mail.example", "Bearer s3cret", "MAIL_TOKEN"),
            ("https://mail.example", "s3crét", "MAIL_TOKEN"),
            ("https://mail.example", "s3cret\ts3cret", "MAIL_TOKEN"),
        ] {
            let error = read(url, token, "off").unwrap_err();
            assert!(
                error.contains(names) && !error.contains("s3cr") && !error.contains("example"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_token_is_not_in_the_debug_text() {
        let config = read("https://mail.example", "s3cret", "off").unwrap();
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
