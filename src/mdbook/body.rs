//! What stands in a block: a scenario of its own, and what must hold; as TOML, or as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A body that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The inline scenario or lesson; none where the block has none.
    pub(super) scenario: Option<Value>,
    /// What must hold.
    pub(super) expect: Map<String, Value>,
    /// Where members are, by the names that lead to them.
    places: BTreeMap<Vec<String>, usize>,
}

/// What is wrong with a body, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The place.
    pub(super) offset: usize,
    /// The words.
    pub(super) message: String,
}

/// The field that is the block's own.
const EXPECT: &str = "expect";

impl Body {
    /// Reads one.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let mut places = BTreeMap::new();
        let mut fields = if text.trim_start().starts_with('{') {
            json(text, &mut places)?
        } else {
            toml_fields(text, &mut places)?
        };
        let expect = match fields.remove(EXPECT) {
            None => Map::new(),
            Some(Value::Object(expect)) => expect,
            Some(_) => {
                return Err(Wrong {
                    offset: places
                        .get([EXPECT.to_owned()].as_slice())
                        .copied()
                        .unwrap_or(0),
                    message: "expect is a table: paths of the state, and what is found there"
                        .into(),
                });
            }
        };
        Ok(Self {
            scenario: (!fields.is_empty()).then_some(Value::Object(fields)),
            expect,
            places,
        })
    }

    /// Where the member is that these names lead to, or the nearest one around it.
    pub(super) fn place_of(&self, names: &[String]) -> usize {
        let mut names = names;
        loop {
            if let Some(offset) = self.places.get(names) {
                return *offset;
            }
            match names.split_last() {
                Some((_, before)) => names = before,
                None => return 0,
            }
        }
    }

    /// Where an error in a scenario is: it names what is wrong, or the fields around it, in quotes.
    pub(super) fn place_of_error(&self, text: &str, error: &str) -> usize {
        let quoted = error.split('"').collect::<Vec<_>>();
        for pair in quoted.chunks_exact(2).rev() {
            let [before, value] = pair else { continue };
            let value = format!("\"{value}\"");
            let mut places = text.match_indices(&value).map(|(at, _)| at);
            if let (false, Some(at), None) =
                (before.ends_with("field "), places.next(), places.next())
            {
                return at;
            }
        }
        let mut names = Vec::new();
        for part in error.split("field \"").skip(1) {
            if let Some((name, _)) = part.split_once('"') {
                names.push(name.to_owned());
            }
        }
        // Of an array it does not say which element: where one alone has the field, it is that one.
        loop {
            if let Some(offset) = self.places.get(&names) {
                return *offset;
            }
            let mut inside = self
                .places
                .iter()
                .filter(|(path, _)| without_numbers(path) == names);
            if let (Some((_, offset)), None) = (inside.next(), inside.next()) {
                return *offset;
            }
            if names.pop().is_none() {
                return 0;
            }
        }
    }
}

fn without_numbers(path: &[String]) -> Vec<String> {
    let is_number = |name: &&String| name.bytes().all(|byte| byte.is_ascii_digit());
    path.iter()
        .filter(|name| !is_number(name))
        .cloned()
        .collect()
}

// --- TOML ---------------------------------------------------------------------------------------

fn toml_fields(
    text: &str,
    places: &mut BTreeMap<Vec<String>, usize>,
) -> Result<Map<String, Value>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        offset: error.span().map_or(0, |span| span.start),
        message: format!("The body is no TOML: {}", error.message()),
    })?;
    fields_of(table.get_ref(), &mut Vec::new(), places)
}

/// A whole file of TOML; dates are texts.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn plain_toml(text: &str) -> Result<Value, Wrong> {
    toml_fields(text, &mut BTreeMap::new()).map(Value::Object)
}

/// Where a member of such a file is.
pub(super) fn place_in_toml(text: &str, names: &[&str]) -> Option<usize> {
    let mut places = BTreeMap::new();
    // As far as it can be read.
    let _read = toml_fields(text, &mut places);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    places.get(&names).copied()
}

fn fields_of(
    table: &DeTable<'_>,
    path: &mut Vec<String>,
    places: &mut BTreeMap<Vec<String>, usize>,
) -> Result<Map<String, Value>, Wrong> {
    let mut fields = Map::new();
    for (name, value) in table {
        path.push(name.get_ref().to_string());
        places.insert(path.clone(), name.span().start);
        let read = value_of(value, path, places)?;
        path.pop();
        fields.insert(name.get_ref().to_string(), read);
    }
    Ok(fields)
}

fn value_of(
    value: &Spanned<DeValue<'_>>,
    path: &mut Vec<String>,
    places: &mut BTreeMap<Vec<String>, usize>,
) -> Result<Value, Wrong> {
    let wrong = |message: &str| Wrong {
        offset: value.span().start,
        message: message.into(),
    };
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_err(|_| wrong("This number is too large"))?
            .into(),
        DeValue::Float(number) => {
            let number: Option<f64> = number.as_str().parse().ok();
            let number = number.and_then(serde_json::Number::from_f64);
            Value::Number(number.ok_or_else(|| wrong("This number cannot be written in JSON"))?)
        }
        DeValue::Boolean(is) => Value::Bool(*is),
        DeValue::Datetime(_) => return Err(wrong("A date stands in quotes here")),
        DeValue::Array(values) => {
            let mut read = Vec::new();
            for (place, value) in values.iter().enumerate() {
                path.push(place.to_string());
                places.insert(path.clone(), value.span().start);
                read.push(value_of(value, path, places)?);
                path.pop();
            }
            Value::Array(read)
        }
        DeValue::Table(table) => Value::Object(fields_of(table, path, places)?),
    })
}

// --- JSON ---------------------------------------------------------------------------------------

fn json(
    text: &str,
    places: &mut BTreeMap<Vec<String>, usize>,
) -> Result<Map<String, Value>, Wrong> {
    let fields = serde_json::from_str(text).map_err(|error| {
        let line = error.line().saturating_sub(1);
        let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        Wrong {
            offset: before + error.column().saturating_sub(1),
            message: format!("The body is no JSON: {error}"),
        }
    })?;
    let mut scan = Scan {
        text,
        at: 0,
        places,
    };
    scan.value(&mut Vec::new());
    Ok(fields)
}

/// Finds where the members are; the text is known to be JSON.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    places: &'a mut BTreeMap<Vec<String>, usize>,
}

impl Scan<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.len() - rest.trim_start().len();
        self.text.get(self.at..)?.chars().next()
    }

    fn value(&mut self, path: &mut Vec<String>) {
        match self.peek() {
            Some('{') => self.members('}', path),
            Some('[') => self.members(']', path),
            Some('"') => {
                self.string();
            }
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let end = rest.find([',', '}', ']', ' ', '\n', '\r', '\t']);
                self.at += end.unwrap_or(rest.len());
            }
        }
    }

    fn members(&mut self, close: char, path: &mut Vec<String>) {
        self.at += 1;
        let mut place = 0;
        while let Some(c) = self.peek() {
            if c == close {
                self.at += 1;
                return;
            }
            if c == ',' {
                self.at += 1;
                continue;
            }
            let start = self.at;
            if close == '}' {
                path.push(self.string());
                if self.peek() == Some(':') {
                    self.at += 1;
                }
            } else {
                path.push(place.to_string());
                place += 1;
            }
            self.places.insert(path.clone(), start);
            self.value(path);
            path.pop();
        }
    }

    fn string(&mut self) -> String {
        let start = self.at;
        let rest = self.text.get(start + 1..).unwrap_or_default();
        let mut escaped = false;
        let length = rest.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        self.at = length.map_or(self.text.len(), |length| start + length + 2);
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(path: &str) -> Vec<String> {
        path.split('|').map(str::to_owned).collect()
    }

    #[test]
    fn both_notations_say_the_same_and_where() {
        let toml = "title = \"x\"\n[scenario]\ntraffic = 3\n[[markers]]\nid = \"m\"\n[expect]\n\"queue.keys\" = [\"a\"]\n[expect.end]\noutput = []\n";
        let json_text = "{\"title\": \"x\",\n\"scenario\": {\"traffic\": 3},\n\"markers\": [{\"id\": \"m\"}],\n\n\n\"expect\": {\n\"queue.keys\": [\"a\"],\n\"end\": {\n\"output\": []}}}";
        for (text, key_line, end_line) in [(toml, 7, 9), (json_text, 7, 9)] {
            let body = Body::read(text).unwrap();
            assert_eq!(
                body.scenario,
                Some(json!({"title": "x", "scenario": {"traffic": 3}, "markers": [{"id": "m"}]}))
            );
            assert_eq!(
                Value::Object(body.expect.clone()),
                json!({"queue.keys": ["a"], "end": {"output": []}})
            );
            let line = |path: &str| text[..body.place_of(&names(path))].matches('\n').count() + 1;
            assert_eq!(line("expect|queue.keys"), key_line, "{text}");
            assert_eq!(line("expect|end|output"), end_line);
            assert_eq!(line("expect|end|output|7|x"), end_line);
            let error = "a lesson, field \"markers\": a marker has no field \"id\"";
            let at = body.place_of_error(text, error);
            assert!(
                text[at..].starts_with("id") || text[at..].starts_with("\"id\""),
                "{at}"
            );
        }
    }

    #[test]
    fn what_is_no_body_is_named_with_its_place() {
        for (text, at, word) in [
            ("a = 1\nb = = 2\n", 2, "no TOML"),
            ("{\"a\": 1,\n\"b\": }", 2, "no JSON"),
            ("\nexpect = 3", 2, "a table"),
            ("a = 1\nb = 2020-01-01", 2, "in quotes"),
            ("a = 99999999999999999999", 1, "too large"),
        ] {
            let wrong = Body::read(text).unwrap_err();
            let line = text[..wrong.offset].matches('\n').count() + 1;
            assert_eq!(line, at, "{text}: {wrong:?}");
            assert!(wrong.message.contains(word), "{wrong:?}");
        }
        assert!(Body::read(" # nothing\n").unwrap().scenario.is_none());
    }
}
