//! Configuration, read once at start. Everything that is wrong is named at once.

use std::fmt;
use std::str::FromStr;

/// Reads a function's settings and collects what is missing or bad.
///
/// # Examples
/// ```
/// use oncebox::config::Reader;
///
/// struct Config {
///     inbox: String,
///     days: u32,
/// }
///
/// let mut reader = Reader::new(|name| (name == "DAYS").then(|| "soon".to_owned()));
/// let config = Config { inbox: reader.text("INBOX_TABLE"), days: reader.or("DAYS", 90) };
/// let error = reader.finish(config).err().map(|error| error.to_string()).unwrap_or_default();
/// assert!(error.contains("INBOX_TABLE is not set"));
/// assert!(error.contains("DAYS cannot be used"));
/// ```
pub struct Reader {
    source: Source,
    problems: Vec<Problem>,
}

type Source = Box<dyn Fn(&str) -> Option<String>>;

/// One setting that stops the function from starting. It names the setting and says what is wrong, and does not
/// repeat the value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    name: String,
    what: String,
}

/// Every setting that is missing or bad, not only the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl Reader {
    /// Reads from `source`.
    pub fn new(source: impl Fn(&str) -> Option<String> + 'static) -> Self {
        Self { source: Box::new(source), problems: Vec::new() }
    }

    /// Reads from the process's environment.
    #[must_use]
    pub fn from_env() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// A text that must be there and not be empty. The placeholder it returns otherwise never gets past
    /// [`finish`](Self::finish).
    pub fn text(&mut self, name: &str) -> String {
        self.find(name).unwrap_or_else(|| {
            self.report(name, "is not set");
            String::new()
        })
    }

    /// A value that must be there and be readable.
    pub fn required<T>(&mut self, name: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        match self.find(name) {
            Some(text) => self.parse(name, &text),
            None => {
                self.report(name, "is not set");
                None
            }
        }
    }

    /// A value that may be absent; `default` then. A value that is there and cannot be read is an error all the same.
    pub fn or<T>(&mut self, name: &str, default: T) -> T
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        match self.find(name) {
            Some(text) => self.parse(name, &text).unwrap_or(default),
            None => default,
        }
    }

    /// `on` or `off`; `default` when absent.
    pub fn switch(&mut self, name: &str, default: bool) -> bool {
        match self.find(name).as_deref().map(str::trim) {
            None => default,
            Some("on") => true,
            Some("off") => false,
            Some(_) => {
                self.report(name, "cannot be used: it is neither on nor off");
                default
            }
        }
    }

    /// Adds a problem that another check found.
    pub fn report(&mut self, name: &str, what: impl Into<String>) {
        self.problems.push(Problem { name: name.to_owned(), what: what.into() });
    }

    /// `config`, if nothing was wrong.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem met since [`new`](Self::new).
    pub fn finish<T>(self, config: T) -> Result<T, ConfigError> {
        if self.problems.is_empty() { Ok(config) } else { Err(ConfigError { problems: self.problems }) }
    }

    fn find(&self, name: &str) -> Option<String> {
        (self.source)(name).filter(|text| !text.trim().is_empty())
    }

    fn parse<T>(&mut self, name: &str, text: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        match text.trim().parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.report(name, format!("cannot be used: {error}"));
                None
            }
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("problems", &self.problems).finish_non_exhaustive()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} wrong: ", if self.problems.len() == 1 { "one setting is" } else { "settings are" })?;
        for (index, Problem { name, what }) in self.problems.iter().enumerate() {
            let gap = if index == 0 { "" } else { "; " };
            write!(f, "{gap}{name} {what}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
