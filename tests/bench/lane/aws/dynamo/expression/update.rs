use super::{Item, Scope, Tokens, Value};

/// Changes `item` as an update expression says. Every right side is read from `item` as it was.
///
/// # Errors
/// When the expression has something that is not known here.
pub(in super::super) fn update(expression: &str, scope: Scope<'_>, item: &mut Item) -> Result<(), String> {
    let changed = clauses(expression, scope, item).map_err(|why| format!("update {expression:?}: {why}"))?;
    for (name, value) in changed {
        match value {
            Some(value) => item.insert(name, value),
            None => item.remove(&name),
        };
    }
    Ok(())
}

/// The attributes that change, with `None` for one that goes.
type Changes = Vec<(String, Option<Value>)>;

fn clauses(expression: &str, scope: Scope<'_>, item: &Item) -> Result<Changes, String> {
    let mut tokens = Tokens::new(expression);
    let mut changes = Changes::new();
    while tokens.peek().is_some() {
        let clause = tokens.take().to_ascii_uppercase();
        loop {
            let name = scope.name(tokens.take())?;
            let value = match clause.as_str() {
                "SET" => {
                    tokens.expect("=")?;
                    Some(right_side(&mut tokens, scope, item)?)
                }
                "ADD" => {
                    let delta = scope.operand(tokens.take(), None)?.ok_or("ADD without a value")?;
                    Some(sum(item.get(name).unwrap_or(&Value::N("0".to_owned())), delta, 1)?)
                }
                "REMOVE" => None,
                other => return Err(format!("the clause {other:?} is not known")),
            };
            changes.push((name.to_owned(), value));
            if !tokens.accept(",") {
                break;
            }
        }
    }
    Ok(changes)
}

fn right_side(tokens: &mut Tokens<'_>, scope: Scope<'_>, item: &Item) -> Result<Value, String> {
    let value = term(tokens, scope, item)?;
    let sign = if tokens.accept("+") {
        1
    } else if tokens.accept("-") {
        -1
    } else {
        return Ok(value);
    };
    sum(&value, &term(tokens, scope, item)?, sign)
}

fn term(tokens: &mut Tokens<'_>, scope: Scope<'_>, item: &Item) -> Result<Value, String> {
    let token = tokens.take();
    if token != "if_not_exists" {
        let value = scope.operand(token, Some(item))?;
        return value.cloned().ok_or(format!("{token} has no value"));
    }
    tokens.expect("(")?;
    let stored = scope.operand(tokens.take(), Some(item))?.cloned();
    tokens.expect(",")?;
    let default = term(tokens, scope, item)?;
    tokens.expect(")")?;
    Ok(stored.unwrap_or(default))
}

fn sum(left: &Value, right: &Value, sign: i128) -> Result<Value, String> {
    match (left.whole(), right.whole()) {
        (Some(left), Some(right)) => Ok(Value::N((left + sign * right).to_string())),
        _ => Err("only whole numbers are added here".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn changed(expression: &str, stored: &str) -> Result<Item, String> {
        let names = HashMap::from([("#n".to_owned(), "name".to_owned())]);
        let values = r#"{":one": {"N": "1"}, ":minus": {"N": "-450"}, ":text": {"S": "new"}}"#;
        let values = serde_json::from_str(values).unwrap();
        let mut item = serde_json::from_str(stored).unwrap();
        update(expression, Scope { names: &names, values: &values }, &mut item)?;
        Ok(item)
    }

    #[test]
    fn add_counts_from_zero_and_from_what_is_there() {
        let once = changed("ADD cents :minus, entries :one", "{}").unwrap();
        assert_eq!(once, serde_json::from_str(r#"{"cents": {"N": "-450"}, "entries": {"N": "1"}}"#).unwrap());
        let text = serde_json::to_string(&once).unwrap();
        let twice = changed("ADD cents :minus, entries :one", &text).unwrap();
        assert_eq!(
            twice,
            serde_json::from_str(r#"{"cents": {"N": "-900"}, "entries": {"N": "2"}}"#).unwrap()
        );
    }

    #[test]
    fn set_writes_keeps_and_calculates() {
        let stored = r#"{"name": {"S": "old"}, "first": {"N": "5"}}"#;
        let item =
            changed("SET #n = :text, first = if_not_exists(first, :one), n = first + :one", stored).unwrap();
        let expected = r#"{"name": {"S": "new"}, "first": {"N": "5"}, "n": {"N": "6"}}"#;
        assert_eq!(item, serde_json::from_str(expected).unwrap());
        let item =
            changed("SET first = if_not_exists(first, :one) REMOVE #n", r#"{"name": {"S": "old"}}"#).unwrap();
        assert_eq!(item, serde_json::from_str(r#"{"first": {"N": "1"}}"#).unwrap());
    }

    #[test]
    fn what_is_not_known_is_not_passed_over() {
        for odd in [
            "SET a = list_append(a, :one)",
            "SET a = :nothing",
            "SET a[0] = :one",
            "SET a.b = :one",
            "DELETE a :one",
            "ADD cents :text",
            "SET a = b",
        ] {
            assert!(changed(odd, "{}").is_err(), "{odd}");
        }
    }
}
