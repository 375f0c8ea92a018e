//! Reads scenarios and lessons from JSON, and writes them, by hand: the code that serde derives for these few types would be a
//! tenth of the page.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::bounds::{self, MAX_NAME, MAX_TEXT, MOST_TEXTS, shortened};

/// A type that can be read from JSON.
pub trait Read: Sized {
    /// Reads a JSON value.
    ///
    /// # Errors
    /// States what is wrong with the value, and where.
    fn read(value: Value) -> Result<Self, Wrong>;
}

/// What is wrong with a JSON value, and where.
// Boxed: dozens of functions return it, and a small one makes them small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(Box<What>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct What {
    message: String,
    place: Vec<Way>,
}

/// From a value to one inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    Field(String),
    Nth(usize),
}

impl Wrong {
    /// An error in the member `name`.
    #[must_use]
    pub fn at(name: &str, message: String) -> Self {
        Self::from(message).inside(name)
    }

    /// What is wrong, for the author of the value, and in which element of a list:
    /// `entry 2 of scenes, entry 1 of choices: …`.
    #[must_use]
    pub fn message(self) -> String {
        let lists = self.0.place.windows(2).filter_map(|ways| match ways {
            [Way::Field(list), Way::Nth(nth)] => Some(format!("entry {} of {list}", nth + 1)),
            _ => None,
        });
        match lists.collect::<Vec<_>>().join(", ") {
            lists if lists.is_empty() => self.0.message,
            lists => format!("{lists}: {}", self.0.message),
        }
    }

    /// The names and numbers of the members that lead to the wrong one; none where it is the value itself.
    #[must_use]
    pub fn place(self) -> Vec<String> {
        let ways = self.0.place.into_iter().map(|way| match way {
            Way::Field(name) => name,
            Way::Nth(number) => number.to_string(),
        });
        ways.collect()
    }

    /// The same error for the value around, where it is in the member `name`.
    #[must_use]
    pub fn inside(mut self, name: &str) -> Self {
        self.0.place.insert(0, Way::Field(name.to_owned()));
        self
    }

    /// The same error for the list around, where it is in the element of this number, from 0.
    #[must_use]
    pub fn inside_nth(mut self, number: usize) -> Self {
        self.0.place.insert(0, Way::Nth(number));
        self
    }

    /// Whether the place says in which element of a list.
    fn is_in_list(&self) -> bool {
        self.0.place.iter().any(|way| matches!(way, Way::Nth(_)))
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self(Box::new(What {
            message,
            place: Vec::new(),
        }))
    }
}

impl From<Wrong> for String {
    fn from(wrong: Wrong) -> Self {
        wrong.message()
    }
}

/// The latest moment and the longest period of a scenario, in ms: some 30 years, so that sums of them fit.
pub const LATEST_MS: u64 = 1_000_000_000_000;

/// Checks a moment or a period, in ms.
///
/// # Errors
/// It exceeds [`LATEST_MS`].
pub fn moment(ms: u64) -> Result<u64, String> {
    if ms <= LATEST_MS {
        Ok(ms)
    } else {
        Err(format!("{ms} ms is too long; the most is {LATEST_MS}"))
    }
}

/// The fields of a JSON object; each is taken out once.
pub struct Fields {
    what: &'static str,
    fields: Map<String, Value>,
    /// The names that were asked for.
    names: Vec<&'static str>,
}

impl Fields {
    /// The fields of `value`; errors call it `what`.
    ///
    /// # Errors
    /// `value` is not an object.
    pub fn of(what: &'static str, value: Value) -> Result<Self, Wrong> {
        match value {
            Value::Object(fields) => Ok(Self {
                what,
                fields,
                names: Vec::new(),
            }),
            other => {
                let other = shortened(&other.to_string());
                Err(format!("{what} cannot be {other}; write an object").into())
            }
        }
    }

    /// Takes an optional field; a missing one has its default.
    ///
    /// # Errors
    /// The field cannot be read.
    pub fn get<T: Read + Default>(&mut self, name: &'static str) -> Result<T, Wrong> {
        match self.take(name) {
            None => Ok(T::default()),
            Some(value) => T::read(value).map_err(|error| self.error(name, error)),
        }
    }

    /// Takes an optional field that is a name or a list of names, of limited length: each is repeated in many
    /// keys, objects or facts.
    ///
    /// # Errors
    /// The field cannot be read or is too long.
    pub fn name<T: Read + Default>(&mut self, name: &'static str) -> Result<T, Wrong> {
        self.within(name, MAX_NAME)
    }

    /// Takes an optional field of lines, limited in length and number: each line is filled in for every
    /// object.
    ///
    /// # Errors
    /// The lines cannot be read, or are too many or too long.
    pub fn lines<T: Read + Default>(&mut self, name: &'static str) -> Result<T, Wrong> {
        self.within(name, MAX_TEXT)
    }

    /// Takes an optional field; a missing one is `default`.
    ///
    /// # Errors
    /// The field cannot be read.
    pub fn or<T: Read>(&mut self, name: &'static str, default: T) -> Result<T, Wrong> {
        Ok(self.get::<Option<T>>(name)?.unwrap_or(default))
    }

    fn within<T: Read + Default>(
        &mut self,
        name: &'static str,
        longest: usize,
    ) -> Result<T, Wrong> {
        let Some(value) = self.take(name) else {
            return Ok(T::default());
        };
        bounds::texts(&value, longest, MOST_TEXTS)
            .map_err(Wrong::from)
            .and_then(|()| T::read(value))
            .map_err(|error| self.error(name, error))
    }

    /// Takes a required field.
    ///
    /// # Errors
    /// The field is missing or cannot be read.
    pub fn need<T: Read>(&mut self, name: &'static str) -> Result<T, Wrong> {
        match self.take(name) {
            None => Err(format!("{} needs the field {name:?}", self.what).into()),
            Some(value) => T::read(value).map_err(|error| self.error(name, error)),
        }
    }

    /// Takes a required field that is a name, of limited length.
    ///
    /// # Errors
    /// The field is missing, cannot be read or is too long.
    pub fn need_name<T: Read>(&mut self, name: &'static str) -> Result<T, Wrong> {
        let value: Value = self.need(name)?;
        bounds::texts(&value, MAX_NAME, MOST_TEXTS)
            .map_err(Wrong::from)
            .and_then(|()| T::read(value))
            .map_err(|error| self.error(name, error))
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.names.push(name);
        self.fields.remove(name)
    }

    /// Checks that every field was taken.
    ///
    /// # Errors
    /// Names an unknown field and lists the known ones.
    pub fn done(self) -> Result<(), Wrong> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(name) => {
                let message = format!(
                    "{} has no field {:?}; there are: {}",
                    self.what,
                    shortened(name),
                    self.names.join(", ")
                );
                Err(Wrong::at(name, message))
            }
        }
    }

    fn error(&self, name: &str, mut error: Wrong) -> Wrong {
        if error.is_in_list() {
            return error.inside(name);
        }
        error.0.message = format!("{}, field {name:?}: {}", self.what, error.0.message);
        error.inside(name)
    }
}

fn wrong<T>(value: &Value, wanted: &str) -> Result<T, Wrong> {
    let value = shortened(&value.to_string());
    Err(format!("{value} is not {wanted}").into())
}

fn number(value: &Value, most: u64) -> Result<u64, Wrong> {
    match value.as_u64() {
        Some(number) if number <= most => Ok(number),
        _ => wrong(value, &format!("a whole number up to {most}")),
    }
}

/// Reads one of several words and returns its value.
///
/// # Errors
/// `value` is none of the words.
pub fn one_of<T: Copy>(value: &Value, words: &[(&str, T)]) -> Result<T, Wrong> {
    let found = words.iter().find(|(word, _)| value == word);
    if let Some((_, meant)) = found {
        return Ok(*meant);
    }
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    wrong(value, &format!("one of {}", words.join(", ")))
}

impl Read for Value {
    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(value)
    }
}

impl Read for bool {
    fn read(value: Value) -> Result<Self, Wrong> {
        one_of(
            &Value::from(value.to_string()),
            &[("true", true), ("false", false)],
        )
    }
}

impl Read for u8 {
    fn read(value: Value) -> Result<Self, Wrong> {
        number(&value, u8::MAX.into()).map(|number| number as Self)
    }
}

impl Read for u16 {
    fn read(value: Value) -> Result<Self, Wrong> {
        number(&value, u16::MAX.into()).map(|number| number as Self)
    }
}

impl Read for u32 {
    fn read(value: Value) -> Result<Self, Wrong> {
        number(&value, u32::MAX.into()).map(|number| number as Self)
    }
}

impl Read for u64 {
    fn read(value: Value) -> Result<Self, Wrong> {
        number(&value, Self::MAX)
    }
}

impl Read for usize {
    fn read(value: Value) -> Result<Self, Wrong> {
        number(&value, u32::MAX.into()).map(|number| number as Self)
    }
}

impl Read for String {
    fn read(value: Value) -> Result<Self, Wrong> {
        match value {
            Value::String(text) => {
                bounds::text(&text, MAX_TEXT)?;
                Ok(text)
            }
            other => wrong(&other, "a text"),
        }
    }
}

impl Read for Arc<str> {
    fn read(value: Value) -> Result<Self, Wrong> {
        String::read(value).map(Self::from)
    }
}

impl<T: Read> Read for Option<T> {
    fn read(value: Value) -> Result<Self, Wrong> {
        if value.is_null() {
            return Ok(None);
        }
        T::read(value).map(Some)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: Value) -> Result<Self, Wrong> {
        let Value::Array(values) = value else {
            return wrong(&value, "an array");
        };
        let mut read = Self::new();
        for (place, value) in values.into_iter().enumerate() {
            read.push(T::read(value).map_err(|error| error.inside_nth(place))?);
        }
        Ok(read)
    }
}

/// A value that is written as JSON that reads back as the same value.
///
/// Fields with their default value are left out. So a default must never change: a link shared today would become
/// another run.
pub trait Put {
    /// The value.
    fn written(&self) -> Value;

    /// Adds it as a field, unless it is the default.
    fn put(&self, name: &str, fields: &mut Written) {
        fields.put(name, self.written());
    }
}

macro_rules! put_as_values {
    ($($type:ty),*) => {$(
        impl Put for $type {
            fn written(&self) -> Value {
                Value::from(*self)
            }
        }
    )*};
}

put_as_values!(bool, u8, u32, u64, usize);

impl Put for String {
    fn written(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Put for Arc<str> {
    fn written(&self) -> Value {
        Value::from(&**self)
    }
}

impl<T: Put> Put for Option<T> {
    fn written(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::written)
    }

    fn put(&self, name: &str, fields: &mut Written) {
        fields.some(name, self.as_ref().map(T::written));
    }
}

impl<T: Put> Put for Vec<T> {
    fn written(&self) -> Value {
        Value::Array(self.iter().map(T::written).collect())
    }
}

/// The fields of an object that is written.
#[derive(Default)]
pub struct Written(Map<String, Value>);

impl Written {
    /// Adds a field, unless its value is empty.
    pub fn put(&mut self, name: &str, value: Value) {
        let blank = match &value {
            Value::Null => true,
            Value::Bool(on) => !on,
            Value::Number(number) => number.as_u64() == Some(0),
            Value::String(text) => text.is_empty(),
            Value::Array(values) => values.is_empty(),
            Value::Object(fields) => fields.is_empty(),
        };
        self.some(name, (!blank).then_some(value));
    }

    /// Adds a field that has a value, even an empty one.
    pub fn some(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// The object.
    #[must_use]
    pub fn done(self) -> Value {
        Value::Object(self.0)
    }
}

/// What a text holds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It is a name.
    Name,
    /// It is a label and its value, as in `app=web`.
    Pair,
    /// Names may occur in it.
    Lines,
}

/// What may hold names of objects.
pub trait Rename {
    /// Replaces each text, of which `holds` says what it is, by what `to` makes of it.
    fn rename(&mut self, holds: Holds, to: &mut dyn FnMut(Holds, &str) -> String);
}

impl Rename for String {
    fn rename(&mut self, holds: Holds, to: &mut dyn FnMut(Holds, &str) -> String) {
        *self = to(holds, self);
    }
}

impl Rename for Arc<str> {
    fn rename(&mut self, holds: Holds, to: &mut dyn FnMut(Holds, &str) -> String) {
        *self = to(holds, self).into();
    }
}

impl<T: Rename> Rename for Option<T> {
    fn rename(&mut self, holds: Holds, to: &mut dyn FnMut(Holds, &str) -> String) {
        if let Some(of) = self {
            of.rename(holds, to);
        }
    }
}

impl<T: Rename> Rename for Vec<T> {
    fn rename(&mut self, holds: Holds, to: &mut dyn FnMut(Holds, &str) -> String) {
        for one in self {
            one.rename(holds, to);
        }
    }
}

/// Declares what is read and written as a JSON object: each field with its name in JSON and what is done with it, so that
/// nothing else has to list them. A `check` of its own may refuse what was read.
///
/// * `plain`: what holds no names of objects, `word`: nor does this text;
/// * `name`: names of objects, `pair`: `label=value`, `lines`: text in which such names may occur;
/// * `inside`: more of these;
/// * `needed`: must be there, and is `plain`, `needed_name`: or a name;
/// * `… or x`: `x` by default. As the needed ones, it is always written.
#[macro_export]
macro_rules! in_fields {
    ($(
        $(#[$of:meta])*
        pub struct $name:ident: $what:literal $(, $check:ident)? {
            $(
                $(#[$doc:meta])*
                pub $field:ident: $type:ty = $word:literal, $how:ident $(or $default:expr)?;
            )*
        }
    )*) => {$(
        $(#[$of])*
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::in_fields!(default $($default)?),)* }
            }
        }

        impl $crate::fields::Read for $name {
            fn read(value: serde_json::Value) -> Result<Self, $crate::fields::Wrong> {
                let mut fields = $crate::fields::Fields::of($what, value)?;
                let read = Self {
                    $($field: $crate::in_fields!(read $how $($default)?, fields, $word)?,)*
                };
                fields.done()?;
                $(read.$check()?;)?
                Ok(read)
            }
        }

        impl $crate::fields::Put for $name {
            fn written(&self) -> serde_json::Value {
                let mut fields = $crate::fields::Written::default();
                $($crate::in_fields!(put $how $($default)?, fields, $word, &self.$field);)*
                fields.done()
            }
        }

        impl $crate::fields::Rename for $name {
            fn rename(
                &mut self,
                _: $crate::fields::Holds,
                to: &mut dyn FnMut($crate::fields::Holds, &str) -> String,
            ) {
                $($crate::in_fields!(rename $how, &mut self.$field, to);)*
                let _ = to;
            }
        }
    )*};
    (default) => { Default::default() };
    (default $default:expr) => { $default };
    (read plain, $fields:ident, $word:literal) => { $fields.get($word) };
    (read plain $default:expr, $fields:ident, $word:literal) => { $fields.or($word, $default) };
    (read inside, $fields:ident, $word:literal) => { $fields.get($word) };
    (read lines, $fields:ident, $word:literal) => { $fields.lines($word) };
    (read needed, $fields:ident, $word:literal) => { $fields.need($word) };
    (read needed_name, $fields:ident, $word:literal) => { $fields.need_name($word) };
    (read $how:ident, $fields:ident, $word:literal) => { $fields.name($word) };
    (put needed, $fields:ident, $word:literal, $field:expr) => {
        $fields.some($word, Some($crate::fields::Put::written($field)))
    };
    (put needed_name, $($rest:tt)*) => { $crate::in_fields!(put needed, $($rest)*) };
    (put plain $default:expr, $($rest:tt)*) => { $crate::in_fields!(put needed, $($rest)*) };
    (put $how:ident, $fields:ident, $word:literal, $field:expr) => {
        $crate::fields::Put::put($field, $word, &mut $fields)
    };
    (rename plain, $field:expr, $to:ident) => {};
    (rename word, $field:expr, $to:ident) => {};
    (rename needed, $field:expr, $to:ident) => {};
    (rename pair, $($rest:tt)*) => { $crate::in_fields!(rename Pair: $($rest)*) };
    (rename lines, $($rest:tt)*) => { $crate::in_fields!(rename Lines: $($rest)*) };
    (rename $how:ident, $($rest:tt)*) => { $crate::in_fields!(rename Name: $($rest)*) };
    (rename $holds:ident: $field:expr, $to:ident) => {
        $crate::fields::Rename::rename($field, $crate::fields::Holds::$holds, $to)
    };
}

/// Implements serde's `Deserialize` by [`Read`].
#[macro_export]
macro_rules! deserialize_by_fields {
    ($($read:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $read {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let value = <serde_json::Value as serde::Deserialize>::deserialize(from)?;
                <Self as $crate::fields::Read>::read(value)
                    .map_err(|wrong| <D::Error as serde::de::Error>::custom(wrong.message()))
            }
        }
    )*};
}
#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_names_the_field_and_the_wrong_value() {
        fn outcome<T: Read + Default + std::fmt::Debug>(value: Value) -> String {
            let mut fields =
                Fields::of("a test", json!({ "x": value })).unwrap_or_else(|_| unreachable!());
            fields
                .get::<T>("x")
                .map_or_else(Wrong::message, |read| format!("{read:?}"))
        }
        for (outcome, expected) in [
            (outcome::<bool>(json!(true)), "true"),
            (
                outcome::<bool>(json!(1)),
                "a test, field \"x\": \"1\" is not one of true, false",
            ),
            (
                outcome::<u8>(json!(256)),
                "a test, field \"x\": 256 is not a whole number up to 255",
            ),
            (
                outcome::<u64>(json!(-1)),
                "a test, field \"x\": -1 is not a whole number up to 18446744073709551615",
            ),
            (
                outcome::<String>(json!(5)),
                "a test, field \"x\": 5 is not a text",
            ),
            (outcome::<Option<u32>>(json!(null)), "None"),
            (
                outcome::<Vec<u32>>(json!([1, "b"])),
                "entry 2 of x: \"b\" is not a whole number up to 4294967295",
            ),
            (
                outcome::<Vec<u32>>(json!({})),
                "a test, field \"x\": {} is not an array",
            ),
        ] {
            assert_eq!(outcome, expected);
        }
        let mut fields = Fields::of("a test", json!({ "y": 1 })).unwrap_or_else(|_| unreachable!());
        for name in ["a", "x"] {
            assert_eq!(fields.get(name), Ok(0_u8));
        }
        let error = "a test has no field \"y\"; there are: a, x";
        assert_eq!(fields.done(), Err(Wrong::at("y", error.to_owned())));
        assert!(Fields::of("a test", json!([])).is_err());
    }
}
