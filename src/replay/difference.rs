//! The difference between two JSON values, kept small because links carry it.
//!
//! A JSON merge patch (RFC 7396) with one extension: in place of an array, `{"@": [from, gone, …new]}`
//! removes `gone` elements at `from` and inserts the new ones there.

use serde_json::{Map, Value};

/// An object with this key alone is a splice of an array.
const SPLICE: &str = "@";

/// The change by which [`apply`] turns `from` into `to`; `None` if they are equal, or if a merge patch cannot
/// express the change (it would set a null).
#[must_use]
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    if from == to {
        return None;
    }
    let found = between(from, to);
    let mut made = from.clone();
    let same = apply(&mut made, found.clone()).is_ok() && made == *to;
    same.then_some(found)
}

/// Applies a change.
///
/// # Errors
/// The change does not fit this value.
pub fn apply(value: &mut Value, change: Value) -> Result<(), String> {
    match (value, change) {
        (Value::Array(elements), Value::Object(mut fields))
            if fields.len() == 1 && fields.contains_key(SPLICE) =>
        {
            splice(elements, fields.remove(SPLICE).unwrap_or_default())
        }
        (value, Value::Object(fields)) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            let Value::Object(known) = value else {
                return Ok(());
            };
            for (name, change) in fields {
                if change.is_null() {
                    known.remove(&name);
                } else {
                    apply(known.entry(name).or_insert(Value::Null), change)?;
                }
            }
            Ok(())
        }
        (value, change) => {
            *value = change;
            Ok(())
        }
    }
}

fn splice(elements: &mut Vec<Value>, change: Value) -> Result<(), String> {
    let Value::Array(mut new) = change else {
        return Err(format!("{change} is no change of an array"));
    };
    let place = |at: usize| {
        let number = new.get(at).and_then(Value::as_u64)?;
        usize::try_from(number).ok()
    };
    let range = match (place(0), place(1)) {
        (Some(from), Some(gone)) if from <= elements.len() && gone <= elements.len() - from => {
            from..from + gone
        }
        _ => {
            let len = elements.len();
            return Err(format!("it changes what an array of {len} elements lacks"));
        }
    };
    elements.splice(range, new.drain(2..));
    Ok(())
}

fn between(from: &Value, to: &Value) -> Value {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let mut fields = Map::new();
            for name in from.keys().filter(|name| !to.contains_key(*name)) {
                fields.insert(name.clone(), Value::Null);
            }
            for (name, to) in to {
                match from.get(name) {
                    Some(from) if from == to => {}
                    Some(from) => {
                        fields.insert(name.clone(), between(from, to));
                    }
                    None => {
                        fields.insert(name.clone(), to.clone());
                    }
                }
            }
            Value::Object(fields)
        }
        (Value::Array(from), Value::Array(to)) => {
            let least = from.len().min(to.len());
            let same = |(one, other): &(&Value, &Value)| one == other;
            let head = from.iter().zip(to).take_while(same).count();
            let tail = from.iter().rev().zip(to.iter().rev());
            let tail = tail.take(least - head).take_while(same).count();
            if head + tail == 0 {
                return Value::Array(to.clone());
            }
            let mut change = vec![Value::from(head), Value::from(from.len() - head - tail)];
            change.extend_from_slice(to.get(head..to.len() - tail).unwrap_or_default());
            let mut fields = Map::new();
            fields.insert(SPLICE.to_owned(), Value::Array(change));
            Value::Object(fields)
        }
        _ => to.clone(),
    }
}
