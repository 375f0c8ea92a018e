//! The body of a block: its scenario and its expectations, as TOML or as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use deltascope_presentation::story::Story;
use deltascope_replay::lessons::{self, SCENARIO, STORY};

/// A parsed body.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The inline scenario or lesson, if there is one.
    pub(super) scenario: Option<Value>,
    /// The expectations, by path.
    pub(super) expect: Map<String, Value>,
    /// Where the members are in the text, by the names that lead to them.
    places: Places,
}

/// Where the members are: a number for each, from 1, and its offset. The body itself is number 0.
#[derive(Clone, Debug, Default)]
struct Places {
    offsets: Vec<usize>,
    /// The number of a member, by the number of the one around it and by its name.
    inside: BTreeMap<(usize, String), usize>,
}

impl Places {
    /// Adds a member and returns its number.
    fn add(&mut self, around: usize, name: &str, offset: usize) -> usize {
        self.offsets.push(offset);
        let number = self.offsets.len();
        self.inside.insert((around, name.to_owned()), number);
        number
    }

    /// The member that the names lead to, and true; or its nearest existing ancestor, and false.
    fn nearest(&self, names: &[String]) -> (usize, bool) {
        let mut number = 0;
        for name in names {
            match self.inside.get(&(number, name.clone())) {
                Some(inside) => number = *inside,
                None => return (number, false),
            }
        }
        (number, true)
    }

    /// The offset of a member.
    fn offset(&self, number: usize) -> usize {
        let offset = number.checked_sub(1).and_then(|at| self.offsets.get(at));
        offset.copied().unwrap_or_default()
    }
}

/// What is wrong with a body, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// In bytes.
    pub(super) offset: usize,
    pub(super) message: String,
}

/// The field for expectations; it does not belong to the scenario.
const EXPECT: &str = "expect";

impl Body {
    /// Parses a body.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let mut places = Places::default();
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
                    offset: places.offset(places.nearest(&[EXPECT.to_owned()]).0),
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

    /// The offset of the member that the names lead to, or of its nearest existing ancestor.
    pub(super) fn place_of(&self, names: &[String]) -> usize {
        self.places.offset(self.places.nearest(names).0)
    }

    /// The names that lead to what is wrong with the scenario, whatever the attributes are, or with the story, if it is
    /// told; none if it can run.
    pub(super) fn wrong_place(&self, is_told: bool) -> Option<Vec<String>> {
        let value = self.scenario.as_ref()?;
        let lesson = match lessons::inline(value.clone()) {
            Ok(lesson) => lesson,
            Err(wrong) => return Some(wrong.place()),
        };
        let Some(wrong) = lesson.scenario.build().err() else {
            let story = lesson.story.filter(|_| is_told)?;
            return Some(Story::read(&story).err()?.inside(STORY).place());
        };
        Some(match value.get(SCENARIO) {
            Some(_) => wrong.inside(SCENARIO).place(),
            None => wrong.place(),
        })
    }
}

// --- TOML ---------------------------------------------------------------------------------------

fn toml_fields(text: &str, places: &mut Places) -> Result<Map<String, Value>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        offset: error.span().map_or(0, |span| span.start),
        message: format!("The body is no TOML: {}", error.message()),
    })?;
    fields_of(table.get_ref(), 0, places)
}

/// Parses a file of TOML. Dates become strings.
///
/// # Errors
/// What is wrong with it, and where.
pub(super) fn plain_toml(text: &str) -> Result<Value, Wrong> {
    toml_fields(text, &mut Places::default()).map(Value::Object)
}

/// The offset of a member of a TOML file.
pub(super) fn place_in_toml(text: &str, names: &[&str]) -> Option<usize> {
    let mut places = Places::default();
    // As far as it can be parsed.
    let _read = toml_fields(text, &mut places);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    match places.nearest(&names) {
        (number, true) => Some(places.offset(number)),
        _ => None,
    }
}

fn fields_of(
    table: &DeTable<'_>,
    around: usize,
    places: &mut Places,
) -> Result<Map<String, Value>, Wrong> {
    let mut fields = Map::new();
    for (name, value) in table {
        let number = places.add(around, name.get_ref(), name.span().start);
        let read = value_of(value, number, places)?;
        fields.insert(name.get_ref().to_string(), read);
    }
    Ok(fields)
}

fn value_of(
    value: &Spanned<DeValue<'_>>,
    around: usize,
    places: &mut Places,
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
                let number = places.add(around, &place.to_string(), value.span().start);
                read.push(value_of(value, number, places)?);
            }
            Value::Array(read)
        }
        DeValue::Table(table) => Value::Object(fields_of(table, around, places)?),
    })
}

// --- JSON ---------------------------------------------------------------------------------------

fn json(text: &str, places: &mut Places) -> Result<Map<String, Value>, Wrong> {
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
    scan.value(0);
    Ok(fields)
}

/// Finds the offsets of the members. The text is known to be valid JSON.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    places: &'a mut Places,
}

impl Scan<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.len() - rest.trim_start().len();
        self.text.get(self.at..)?.chars().next()
    }

    fn value(&mut self, number: usize) {
        match self.peek() {
            Some('{') => self.members('}', number),
            Some('[') => self.members(']', number),
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

    fn members(&mut self, close: char, around: usize) {
        self.at += 1;
        let mut place = 0_usize;
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
            let name = if close == '}' {
                let name = self.string();
                if self.peek() == Some(':') {
                    self.at += 1;
                }
                name
            } else {
                place += 1;
                (place - 1).to_string()
            };
            let number = self.places.add(around, &name, start);
            self.value(number);
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
    fn toml_and_json_give_the_same_body_with_offsets() {
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
        }
    }

    #[test]
    fn a_malformed_body_is_reported_with_its_offset() {
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
