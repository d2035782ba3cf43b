use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Where a row goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Destination {
    /// An SNS topic, by ARN.
    Topic(String),
    /// An SQS queue, by URL.
    Queue(String),
}

impl Destination {
    /// Whether it keeps order: SNS and SQS both name FIFO destinations with the suffix `.fifo`.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        match self {
            Self::Topic(name) | Self::Queue(name) => name.ends_with(".fifo"),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(name) | Self::Queue(name) => f.write_str(name),
        }
    }
}

/// A destination that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// Not a JSON object of lists of texts.
    #[error(
        "routes are a JSON object from route name to a list of destinations, such as {{\"Order\": [\"arn:aws:sns:…\"]}}"
    )]
    Shape,
    /// A route without destination: its rows would count as published without having gone anywhere.
    #[error("route {0:?} has no destination")]
    Empty(String),
    /// Neither a topic ARN nor a queue URL.
    #[error("destination {0:?} is neither an SNS topic ARN nor an SQS queue URL")]
    Unknown(String),
    /// No route at all.
    #[error("there is no route")]
    None,
}

impl FromStr for Destination {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let is_topic = text.starts_with("arn:") && text.split(':').nth(2) == Some("sns");
        if is_topic {
            Ok(Self::Topic(text.to_owned()))
        } else if text.starts_with("https://") || text.starts_with("http://") {
            Ok(Self::Queue(text.to_owned()))
        } else {
            Err(RouteError::Unknown(text.to_owned()))
        }
    }
}

/// Route name (the aggregate type, unless the event names another) to destinations.
///
/// # Examples
/// ```
/// use oncebox::relay::Routes;
///
/// let routes: Routes = r#"{"Order": ["arn:aws:sns:eu-central-1:123456789012:orders"]}"#.parse()?;
/// assert_eq!(routes.of("Order").map(<[_]>::len), Some(1));
/// assert!(routes.of("Invoice").is_none());
/// # Ok::<(), oncebox::relay::RouteError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routes(BTreeMap<String, Vec<Destination>>);

impl Routes {
    /// The destinations of a route; a row is done when all of them have accepted it.
    #[must_use]
    pub fn of(&self, route: &str) -> Option<&[Destination]> {
        self.0.get(route).map(Vec::as_slice)
    }
}

impl FromStr for Routes {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let lists: BTreeMap<String, Vec<String>> =
            serde_json::from_str(text).map_err(|_| RouteError::Shape)?;
        if lists.is_empty() {
            return Err(RouteError::None);
        }
        let mut routes = BTreeMap::new();
        for (name, list) in lists {
            if list.is_empty() {
                return Err(RouteError::Empty(name));
            }
            let destinations = list.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
            routes.insert(name, destinations);
        }
        Ok(Self(routes))
    }
}
