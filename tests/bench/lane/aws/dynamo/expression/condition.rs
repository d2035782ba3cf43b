use std::cmp::Ordering;

use super::{Item, Scope, Tokens, Value};

/// Whether a condition holds for the item, which may be absent.
///
/// # Errors
/// When it has something that is not known here.
pub(in super::super) fn holds(
    condition: &str,
    scope: Scope<'_>,
    item: Option<&Item>,
) -> Result<bool, String> {
    let mut parser = Parser { tokens: Tokens::new(condition), scope, item };
    let holds = parser.or().map_err(|why| format!("condition {condition:?}: {why}"))?;
    match parser.tokens.peek() {
        None => Ok(holds),
        Some(token) => Err(format!("condition {condition:?}: {token:?} is too much")),
    }
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    scope: Scope<'a>,
    item: Option<&'a Item>,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<bool, String> {
        let mut holds = self.and()?;
        while self.tokens.accept("OR") {
            // Both sides are read, whatever the first one says.
            holds |= self.and()?;
        }
        Ok(holds)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut holds = self.not()?;
        while self.tokens.accept("AND") {
            holds &= self.not()?;
        }
        Ok(holds)
    }

    fn not(&mut self) -> Result<bool, String> {
        if self.tokens.accept("NOT") { Ok(!self.not()?) } else { self.primary() }
    }

    fn primary(&mut self) -> Result<bool, String> {
        if self.tokens.accept("(") {
            let holds = self.or()?;
            self.tokens.expect(")")?;
            return Ok(holds);
        }
        let first = self.tokens.take();
        if self.tokens.accept("(") {
            let name = self.scope.name(self.tokens.take())?;
            self.tokens.expect(")")?;
            let exists = self.item.is_some_and(|item| item.contains_key(name));
            return match first {
                "attribute_exists" => Ok(exists),
                "attribute_not_exists" => Ok(!exists),
                other => Err(format!("the function {other:?} is not known")),
            };
        }
        let left = self.scope.operand(first, self.item)?;
        let sign = self.tokens.take();
        let right = self.scope.operand(self.tokens.take(), self.item)?;
        let (Some(left), Some(right)) = (left, right) else {
            // An absent attribute is unequal to everything, and neither less nor greater.
            return if is_sign(sign) { Ok(sign == "<>") } else { Err(unknown(sign)) };
        };
        match (sign, compare(left, right)) {
            ("=", order) => Ok(left == right || order == Some(Ordering::Equal)),
            ("<>", order) => Ok(left != right && order != Some(Ordering::Equal)),
            ("<", order) => Ok(order == Some(Ordering::Less)),
            (">", order) => Ok(order == Some(Ordering::Greater)),
            ("<=", order) => Ok(order.is_some_and(Ordering::is_le)),
            (">=", order) => Ok(order.is_some_and(Ordering::is_ge)),
            (sign, _) => Err(unknown(sign)),
        }
    }
}

fn is_sign(sign: &str) -> bool {
    matches!(sign, "=" | "<>" | "<" | ">" | "<=" | ">=")
}

fn unknown(sign: &str) -> String {
    format!("{sign:?} is no comparison")
}

/// Numbers by value, texts by bytes; values of two types have no order.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::S(left), Value::S(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Value::N(one), Value::N(other)) => match (left.whole(), right.whole()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => one.parse::<f64>().ok()?.partial_cmp(&other.parse().ok()?),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn item(json: &str) -> Item {
        serde_json::from_str(json).unwrap()
    }

    fn check(condition: &str, stored: Option<&str>) -> Result<bool, String> {
        let names = [("#id", "id"), ("#expiry", "expiration"), ("#status", "status")]
            .map(|(alias, name)| (alias.to_owned(), name.to_owned()));
        let names = HashMap::from([("#in_progress_expiry".to_owned(), "in_progress_expiration".to_owned())])
            .into_iter()
            .chain(names)
            .collect();
        let values = item(
            r#"{":now": {"N": "1000"}, ":now_in_millis": {"N": "1000000"}, ":inprogress": {"S": "INPROGRESS"}}"#,
        );
        let stored = stored.map(item);
        holds(condition, Scope { names: &names, values: &values }, stored.as_ref())
    }

    #[test]
    fn an_absent_item_has_no_attribute() {
        assert_eq!(check("attribute_not_exists(pk)", None), Ok(true));
        assert_eq!(check("attribute_exists(pk)", None), Ok(false));
        assert_eq!(check("attribute_not_exists(pk)", Some(r#"{"pk": {"S": "a"}}"#)), Ok(false));
    }

    #[test]
    fn the_condition_of_an_idempotency_layer() {
        // As Powertools for AWS Lambda (Python) 3 sends it.
        let condition = "attribute_not_exists(#id) OR #expiry < :now OR (#status = :inprogress AND \
                         attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis)";
        let stored = |expiry: u32, status: &str, lease: &str| {
            let text = format!(
                r#"{{"id": {{"S": "a"}}, "expiration": {{"N": "{expiry}"}}, "status": {{"S": "{status}"}}{lease}}}"#
            );
            check(condition, Some(&text))
        };
        let lease = |until: u32| format!(r#", "in_progress_expiration": {{"N": "{until}"}}"#);
        assert_eq!(check(condition, None), Ok(true));
        assert_eq!(stored(2000, "COMPLETED", ""), Ok(false));
        assert_eq!(stored(999, "COMPLETED", ""), Ok(true));
        // By value and not by text: "999" would come after "1000".
        assert_eq!(stored(1001, "INPROGRESS", &lease(999)), Ok(true));
        assert_eq!(stored(2000, "INPROGRESS", &lease(1_000_001)), Ok(false));
        assert_eq!(stored(2000, "INPROGRESS", ""), Ok(false));
        assert_eq!(stored(2000, "COMPLETED", &lease(999)), Ok(false));
    }

    #[test]
    fn and_binds_closer_than_or_and_not_closest() {
        let there = Some(r#"{"a": {"N": "1"}}"#);
        assert_eq!(
            check("attribute_exists(a) OR attribute_exists(b) AND attribute_exists(c)", there),
            Ok(true)
        );
        assert_eq!(
            check("(attribute_exists(a) OR attribute_exists(b)) AND attribute_exists(c)", there),
            Ok(false)
        );
        assert_eq!(check("NOT attribute_exists(b) AND attribute_exists(a)", there), Ok(true));
    }

    #[test]
    fn an_absent_attribute_is_neither_less_nor_equal() {
        let other = Some(r#"{"a": {"S": "1"}}"#);
        for sign in ["=", "<", "<=", ">", ">="] {
            assert_eq!(check(&format!("b {sign} :now"), other), Ok(false), "{sign}");
            assert_eq!(check(&format!("a {sign} :now"), other), Ok(false), "another type, {sign}");
        }
        assert_eq!(check("b <> :now", other), Ok(true));
        assert_eq!(check("a <> :now", other), Ok(true));
    }

    #[test]
    fn what_is_not_known_is_not_taken_for_true() {
        for odd in [
            "begins_with(a, :now)",
            "size(a)",
            "a ~ :now",
            "b ~ :now",
            "a = :unknown",
            "#unknown = :now",
            "attribute_exists(a) attribute_exists(b)",
            "(attribute_exists(a)",
            "a.b = :now",
            "",
        ] {
            assert!(check(odd, Some(r#"{"a": {"N": "1"}}"#)).is_err(), "{odd}");
        }
    }
}
