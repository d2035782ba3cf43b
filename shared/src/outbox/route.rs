use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// Bytes that an SNS topic takes in one message unless its attribute `MaximumMessageSize` allows more. Source: SNS quotas.
const TOPIC_BYTES: usize = 256 * 1024;
/// Bytes that an SQS queue takes in one message; a topic can be set to as much. Source: SQS quotas.
const MAX_BYTES: usize = 1024 * 1024;

/// Where a row goes.
///
/// # Examples
/// ```
/// use oncebox::outbox::Destination;
///
/// let topic: Destination = "arn:aws:sns:eu-central-1:123456789012:orders.fifo".parse()?;
/// assert!(topic.is_fifo());
/// assert_eq!(topic.max_bytes(), 262_144);
/// # Ok::<(), oncebox::outbox::RouteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Destination {
    kind: Kind,
    name: String,
    max_bytes: usize,
    fair: bool,
}

/// What a destination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An SNS topic, named by its ARN.
    Topic,
    /// An SQS queue, named by its URL.
    Queue,
}

impl Destination {
    /// Topic or queue.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The topic's ARN or the queue's URL.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it keeps order: SNS and SQS both name FIFO destinations with the suffix `.fifo`.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.name.ends_with(".fifo")
    }

    /// Bytes of one message, attributes included. Default 256 KiB for a topic, 1 MiB for a queue.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Whether messages carry a group id: on FIFO destinations always, on a standard one if its route says
    /// `"fair": true`, which makes the queue behind it a fair queue (billed as such). It is never a promise of order.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        self.fair || self.is_fifo()
    }

    /// What is assumed where no routes are known.
    pub(super) fn any_topic() -> Self {
        Self {
            kind: Kind::Topic,
            name: "an SNS topic by default".to_owned(),
            max_bytes: TOPIC_BYTES,
            fair: false,
        }
    }

    fn with_max_bytes(mut self, max_bytes: usize) -> Result<Self, RouteError> {
        if (1..=MAX_BYTES).contains(&max_bytes) {
            self.max_bytes = max_bytes;
            Ok(self)
        } else {
            Err(RouteError::MaxBytes(self.name))
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A destination that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// Not a JSON object of lists of destinations.
    #[error(
        "routes are a JSON object from route to a list of destinations, such as {{\"Order\": [\"arn:aws:sns:…\"]}}; a destination is a text, or {{\"to\": \"…\", \"max_bytes\": 1048576, \"fair\": true}}"
    )]
    Shape,
    /// A route without destination: its rows would count as published without having gone anywhere.
    #[error("route {0:?} has no destination")]
    Empty(String),
    /// A route that names one destination twice: every event would be published there twice.
    #[error("route {0:?} names destination {1:?} twice")]
    Twice(String, String),
    /// Neither a topic ARN nor a queue URL.
    #[error("destination {0:?} is neither an SNS topic ARN nor an SQS queue URL")]
    Unknown(String),
    /// No such size.
    #[error("max_bytes of destination {0:?} is not from 1 to 1048576")]
    MaxBytes(String),
    /// No route at all.
    #[error("there is no route")]
    None,
}

impl FromStr for Destination {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let parts: Vec<&str> = text.split(':').collect();
        let is_topic = matches!(parts.as_slice(), ["arn", _, "sns", _, _, name] if !name.is_empty());
        let (kind, max_bytes) = if is_topic {
            (Kind::Topic, TOPIC_BYTES)
        } else if text.starts_with("https://") || text.starts_with("http://") {
            (Kind::Queue, MAX_BYTES)
        } else {
            return Err(RouteError::Unknown(text.to_owned()));
        };
        Ok(Self { kind, name: text.to_owned(), max_bytes, fair: false })
    }
}

/// Which events go where.
///
/// A route is named by aggregate type (`Order`), by aggregate type and event type (`Order/OrderPlaced`), or by whatever
/// name an event states with [`Emit::route`](crate::event::Emit::route); `*` is the default. The most exact one counts.
///
/// A destination is an ARN or a URL, or an object with it in `to` and, if need be, `max_bytes` (what a message may have
/// there) and `fair` ([`Destination::is_grouped`]).
///
/// # Examples
/// ```
/// use oncebox::outbox::Routes;
///
/// let routes: Routes = r#"{
///     "Order": ["arn:aws:sns:eu-central-1:123456789012:orders", "https://sqs.eu-central-1.amazonaws.com/1/audit"],
///     "Order/OrderShipped": [{"to": "arn:aws:sns:eu-central-1:123456789012:shipping", "max_bytes": 1048576}]
/// }"#.parse()?;
/// assert_eq!(routes.of("Order", "OrderPlaced").map(<[_]>::len), Some(2));
/// assert_eq!(routes.of("Order", "OrderShipped").map(<[_]>::len), Some(1));
/// assert!(routes.of("Invoice", "InvoiceSent").is_none());
/// # Ok::<(), oncebox::outbox::RouteError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routes(BTreeMap<String, Vec<Destination>>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Plain(String),
    Detailed(Detailed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Detailed {
    to: String,
    max_bytes: Option<usize>,
    #[serde(default)]
    fair: bool,
}

impl Detailed {
    fn destination(self) -> Result<Destination, RouteError> {
        let destination = Destination { fair: self.fair, ..self.to.parse()? };
        self.max_bytes.map_or(Ok(destination.clone()), |max_bytes| destination.with_max_bytes(max_bytes))
    }
}

impl Routes {
    /// The destinations of an event; its row is done when all of them have accepted it. `None` when no route fits.
    #[must_use]
    pub fn of(&self, route: &str, event_type: &str) -> Option<&[Destination]> {
        let exact = self.0.get(&format!("{route}/{event_type}"));
        exact.or_else(|| self.0.get(route)).or_else(|| self.0.get("*")).map(Vec::as_slice)
    }
}

#[cfg(feature = "relay")]
impl Routes {
    /// Every destination of every route.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Destination> {
        self.0.values().flatten()
    }
}

impl FromStr for Routes {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let lists: BTreeMap<String, Vec<Written>> =
            serde_json::from_str(text).map_err(|_| RouteError::Shape)?;
        if lists.is_empty() {
            return Err(RouteError::None);
        }
        let mut routes = BTreeMap::new();
        for (route, list) in lists {
            let mut destinations: Vec<Destination> = Vec::with_capacity(list.len());
            for written in list {
                let destination = match written {
                    Written::Plain(to) => to.parse()?,
                    Written::Detailed(detailed) => detailed.destination()?,
                };
                if destinations.iter().any(|known| known.name == destination.name) {
                    return Err(RouteError::Twice(route, destination.name));
                }
                destinations.push(destination);
            }
            if destinations.is_empty() {
                return Err(RouteError::Empty(route));
            }
            routes.insert(route, destinations);
        }
        Ok(Self(routes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> RouteError {
        text.parse::<Routes>().unwrap_err()
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert_eq!(error("{}"), RouteError::None);
        for shape in [
            "",
            "[]",
            "null",
            r#"{"Order": "arn:aws:sns:r:1:t"}"#,
            r#"{"Order": [{"to": 1}]}"#,
            r#"{"Order": [{"to": "https://q", "maxbytes": 5}]}"#,
        ] {
            assert_eq!(error(shape), RouteError::Shape, "{shape}");
        }
        assert_eq!(error(r#"{"Order": []}"#), RouteError::Empty("Order".into()));
        for unknown in
            ["arn:aws:sqs:r:1:q", "arn:aws:sns:r:1:", "orders", "", "arn:aws:sns:r:1:t:subscription"]
        {
            let routes = format!(r#"{{"Order": ["{unknown}"]}}"#);
            assert_eq!(error(&routes), RouteError::Unknown(unknown.into()));
        }
        let twice = error(r#"{"Order": ["https://q", {"to": "https://q", "max_bytes": 5}]}"#);
        assert_eq!(twice, RouteError::Twice("Order".into(), "https://q".into()));
        assert_eq!(
            error(r#"{"*": [{"to": "https://q", "max_bytes": 0}]}"#),
            RouteError::MaxBytes("https://q".into())
        );
    }

    #[test]
    fn c08_a_standard_destination_has_groups_where_its_route_says_so() {
        let routes: Routes = r#"{"Order": ["https://a", {"to": "https://b", "fair": true}, "https://c.fifo"]}"#.parse().unwrap();
        let grouped: Vec<bool> =
            routes.of("Order", "").unwrap().iter().map(Destination::is_grouped).collect();
        assert_eq!(grouped, [false, true, true]);
        assert_eq!(routes.of("Order", "").unwrap()[1].max_bytes(), MAX_BYTES);
    }

    #[test]
    fn the_most_exact_route_counts() {
        let routes: Routes =
            r#"{"*": ["https://any"], "Order": ["https://order"], "Order/Placed": ["https://placed"]}"#
                .parse()
                .unwrap();
        let to = |route, event_type| routes.of(route, event_type).unwrap()[0].name().to_owned();
        assert_eq!(to("Order", "Placed"), "https://placed");
        assert_eq!(to("Order", "Shipped"), "https://order");
        assert_eq!(to("Invoice", "Placed"), "https://any");
    }
}
