//! Label selectors: `a=b,c!=d,e in (x,y),!f`.
//!
//! Upstream: [`selector.go`](https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/labels/selector.go)
//! and, for `matchLabels` with `matchExpressions`,
//! [`helpers.go`](https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/apis/meta/v1/helpers.go).

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::order::Order;
use super::quote::{JsonList, Quoted};

/// Labels by name.
pub type Labels = BTreeMap<String, String>;

/// Selects objects by their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    // Sorted by key. `None` selects nothing.
    requirements: Option<Vec<Requirement>>,
}

/// The operator of a [`Requirement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `in`
    In,
    /// `notin`
    NotIn,
    /// `=`
    Equals,
    /// `==`
    DoubleEquals,
    /// `!=`
    NotEquals,
    /// The label exists.
    Exists,
    /// `!`
    DoesNotExist,
    /// `>`, for integers.
    GreaterThan,
    /// `<`, for integers.
    LessThan,
}

/// A condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    // Sorted and without duplicates if parsed, otherwise as given.
    values: Vec<String>,
}

/// An error in a selector, with the text of apimachinery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError(String);

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}

impl Selector {
    /// Selects everything.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            requirements: Some(Vec::new()),
        }
    }

    /// Selects nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self { requirements: None }
    }

    /// Parses the string form; an empty string selects everything.
    ///
    /// # Errors
    /// States the found and the expected token.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut requirements = Parser::new(text).parse().map_err(SelectorError)?;
        Order::Key.sort(&mut requirements, |one| &one.key);
        Ok(Self {
            requirements: Some(requirements),
        })
    }

    /// Selects objects with all of these labels. Does not validate them, like upstream's
    /// `SelectorFromSet`.
    #[must_use]
    pub fn from_set(labels: &Labels) -> Self {
        let requirement = |(key, value): (&String, &String)| Requirement {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.clone()],
        };
        Self {
            requirements: Some(labels.iter().map(requirement).collect()),
        }
    }

    /// Combines `matchLabels` and `matchExpressions`. `None` selects nothing, an empty selector
    /// everything.
    ///
    /// # Errors
    /// An unknown operator, or an error of [`Requirement::new`].
    pub fn from_label_selector(selector: Option<&LabelSelector>) -> Result<Self, SelectorError> {
        let Some(selector) = selector else {
            return Ok(Self::nothing());
        };
        let mut requirements = Vec::new();
        for (key, value) in selector.match_labels.iter().flatten() {
            requirements.push(Requirement::new(
                key,
                Operator::Equals,
                vec![value.clone()],
            )?);
        }
        for expression in selector.match_expressions.iter().flatten() {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    return Err(SelectorError(format!(
                        "{} is not a valid label selector operator",
                        Quoted(other)
                    )));
                }
            };
            let values = expression.values.clone().unwrap_or_default();
            requirements.push(Requirement::new(&expression.key, operator, values)?);
        }
        Ok(Self::everything().with(requirements))
    }

    /// Adds requirements; a selector that selects nothing stays unchanged.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Requirement>) -> Self {
        if let Some(requirements) = &mut self.requirements {
            requirements.extend(more);
            Order::Key.sort(requirements, |one| &one.key);
        }
        self
    }

    /// Whether it selects an object with these labels.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements
            .as_ref()
            .is_some_and(|all| all.iter().all(|one| one.matches(labels)))
    }

    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether it can select nothing.
    #[must_use]
    pub fn matches_nothing(&self) -> bool {
        self.requirements.is_none()
    }

    /// The requirements, sorted by key.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        self.requirements.as_deref().unwrap_or_default()
    }

    /// The only value that the selector allows for a label, if there is one.
    #[must_use]
    pub fn requires_exact_match(&self, label: &str) -> Option<&str> {
        let found = self.requirements().iter().find(|one| one.key == label)?;
        match (found.operator, found.values.as_slice()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, requirement) in self.requirements().iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl Requirement {
    /// Validates and creates a requirement.
    ///
    /// # Errors
    /// A malformed key or value, or more or fewer values than the operator takes.
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let mut errors = Vec::new();
        if let Some(why) = label_key_errors(key) {
            errors.push(format!("key: Invalid value: {}: {why}", Quoted(key)));
        }
        let wrong_count = match operator {
            Operator::In | Operator::NotIn => values
                .is_empty()
                .then_some("for 'in', 'notin' operators, values set can't be empty"),
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
                (values.len() != 1).then_some("exact-match compatibility requires one single value")
            }
            Operator::Exists | Operator::DoesNotExist => (!values.is_empty())
                .then_some("values set must be empty for exists and does not exist"),
            Operator::GreaterThan | Operator::LessThan => (values.len() != 1)
                .then_some("for 'Gt', 'Lt' operators, exactly one value is required"),
        };
        if let Some(why) = wrong_count {
            let list = JsonList(&values);
            errors.push(format!("values: Invalid value: {list}: {why}"));
        }
        if operator.compares_numbers() {
            for (place, value) in values.iter().enumerate() {
                if whole_number(value).is_none() {
                    errors.push(format!(
                        "values[{place}]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                        Quoted(value)
                    ));
                }
            }
        }
        for (place, value) in values.iter().enumerate() {
            if let Some(why) = label_value_errors(value) {
                errors.push(format!(
                    "values[{place}][{key}]: Invalid value: {}: {why}",
                    Quoted(value)
                ));
            }
        }
        match errors.as_slice() {
            [] => Ok(Self {
                key: key.to_owned(),
                operator,
                values,
            }),
            [one] => Err(SelectorError(one.clone())),
            many => Err(SelectorError(format!("[{}]", many.join(", ")))),
        }
    }

    /// Whether these labels meet the requirement.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        let listed = || value.is_some_and(|value| self.values.contains(value));
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => listed(),
            Operator::NotIn | Operator::NotEquals => !listed(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let number = value.and_then(|value| whole_number(value));
                let bound = self.values.first().and_then(|value| whole_number(value));
                match (number, bound) {
                    (Some(number), Some(bound)) if self.operator == Operator::LessThan => {
                        number < bound
                    }
                    (Some(number), Some(bound)) => number > bound,
                    _ => false,
                }
            }
        }
    }

    /// The label's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values to compare with.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = match self.operator {
            Operator::Exists => return f.write_str(&self.key),
            Operator::DoesNotExist => return write!(f, "!{}", self.key),
            Operator::In => (" in (", ")"),
            Operator::NotIn => (" notin (", ")"),
            Operator::Equals => ("=", ""),
            Operator::DoubleEquals => ("==", ""),
            Operator::NotEquals => ("!=", ""),
            Operator::GreaterThan => (">", ""),
            Operator::LessThan => ("<", ""),
        };
        let mut values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        Order::Key.sort(&mut values, |value| value);
        write!(f, "{}{before}{}{after}", self.key, values.join(","))
    }
}

impl Operator {
    fn compares_numbers(self) -> bool {
        matches!(self, Self::GreaterThan | Self::LessThan)
    }
}

// ---- validation of labels

const NAME_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_EXAMPLES: &str = "'MyName',  or 'my.name',  or '123-abc', ";
const SUBDOMAIN_REGEX: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// The errors in a label's key.
fn label_key_errors(key: &str) -> Option<String> {
    let name_form = || {
        format!("{NAME_WORDS} (e.g. {NAME_EXAMPLES}regex used for validation is '{NAME_REGEX}')")
    };
    let mut errors = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > 253 {
                    errors.push("prefix part must be no more than 253 bytes".to_owned());
                }
                if !prefix.split('.').all(is_subdomain_label) {
                    errors.push(format!(
                        "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                         and must start and end with an alphanumeric character \
                         (e.g. 'example.com', regex used for validation is '{SUBDOMAIN_REGEX}')"
                    ));
                }
            }
            name
        }
        _ => {
            return Some(format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                name_form()
            ));
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(name) {
        errors.push(format!("name part {}", name_form()));
    }
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// The errors in a label's value.
fn label_value_errors(value: &str) -> Option<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
             and must start and end with an alphanumeric character \
             (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({NAME_REGEX})?')"
        ));
    }
    (!errors.is_empty()).then(|| errors.join("; "))
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|byte| inner(*byte))
}

fn is_subdomain_label(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| letter(*byte));
    let bytes = text.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| letter(*byte) || *byte == b'-')
}

/// An integer in the format of Go's `ParseInt`: an optional sign, then digits.
fn whole_number(text: &str) -> Option<i64> {
    text.parse().ok()
}

// ---- the string form

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    End,
    Word,
    In,
    NotIn,
    Comma,
    Open,
    Close,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, &'a str)>>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            tokens: tokens(text).into_iter().peekable(),
        }
    }

    fn parse(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                (Token::Word | Token::Not, _) => {}
                (Token::End, _) => return Ok(requirements),
                (_, found) => {
                    return Err(format!(
                        "found '{found}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            requirements.push(
                self.requirement()
                    .map_err(|error| format!("unable to parse requirement: {error}"))?,
            );
            match self.next() {
                (Token::End, _) => return Ok(requirements),
                (Token::Comma, _) => {
                    let (token, found) = self.peek();
                    if !matches!(token, Token::Word | Token::Not) {
                        return Err(format!("found '{found}', expected: identifier after ','"));
                    }
                }
                (_, found) => {
                    return Err(format!("found '{found}', expected: ',' or 'end of string'"));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut key) = self.next();
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next();
        }
        if token != Token::Word {
            return Err(format!("found '{key}', expected: identifier"));
        }
        // Upstream prints no field name here.
        if let Some(why) = label_key_errors(key) {
            return Err(format!("<nil>: Invalid value: {}: {why}", Quoted(key)));
        }
        let make = |operator, values: Vec<&str>| {
            let values = values.into_iter().map(str::to_owned).collect();
            Requirement::new(key, operator, values).map_err(|error| error.0)
        };
        let alone = matches!(self.peek().0, Token::End | Token::Comma);
        if negated {
            return make(Operator::DoesNotExist, Vec::new());
        }
        if alone {
            return make(Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => self.exact_value()?,
        };
        make(operator, values)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let (token, found) = self.tokens.next().unwrap_or((Token::End, ""));
        Ok(match token {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            _ => {
                return Err(format!(
                    "found '{found}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        })
    }

    /// `(a,b)`; a missing word is the empty value. Sorted, without duplicates.
    fn values(&mut self) -> Result<Vec<&'a str>, String> {
        let (token, found) = self.next();
        if token != Token::Open {
            return Err(format!("found '{found}' expected: '('"));
        }
        match self.peek() {
            (Token::Word | Token::Comma, _) => {}
            (Token::Close, _) => {
                self.next();
                return Ok(vec![""]);
            }
            (_, found) => {
                return Err(format!("found '{found}', expected: ',', ')' or identifier"));
            }
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                (Token::Word, value) => {
                    values.push(value);
                    match self.peek() {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => break,
                        (_, found) => {
                            return Err(format!("found '{found}', expected: ',' or ')'"));
                        }
                    }
                }
                (Token::Comma, _) => {
                    let after = self.peek().0;
                    if values.is_empty() || matches!(after, Token::Close | Token::Comma) {
                        values.push("");
                    }
                    if after == Token::Close {
                        break;
                    }
                }
                (_, found) => {
                    return Err(format!("found '{found}', expected: ',', or identifier"));
                }
            }
        }
        self.next();
        Order::Key.sort(&mut values, |value| value);
        values.dedup();
        Ok(values)
    }

    fn exact_value(&mut self) -> Result<Vec<&'a str>, String> {
        match self.peek() {
            (Token::End | Token::Comma, _) => Ok(vec![""]),
            (Token::Word, value) => {
                self.next();
                Ok(vec![value])
            }
            (_, found) => Err(format!("found '{found}', expected: identifier")),
        }
    }

    /// The next token; `in` and `notin` count as words.
    fn peek(&mut self) -> (Token, &'a str) {
        as_word(self.tokens.peek().copied())
    }

    fn next(&mut self) -> (Token, &'a str) {
        as_word(self.tokens.next())
    }
}

fn as_word(token: Option<(Token, &str)>) -> (Token, &str) {
    match token {
        None => (Token::End, ""),
        Some((Token::In | Token::NotIn, text)) => (Token::Word, text),
        Some(token) => token,
    }
}

fn tokens(text: &str) -> Vec<(Token, &str)> {
    let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let special = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(space);
    while let Some(first) = rest.chars().next() {
        let (token, length) = if special(first) {
            symbol(first, rest)
        } else {
            let length = rest.find(|c| special(c) || space(c)).unwrap_or(rest.len());
            match &rest[..length] {
                "in" => (Token::In, length),
                "notin" => (Token::NotIn, length),
                _ => (Token::Word, length),
            }
        };
        found.push((token, &rest[..length]));
        rest = rest[length..].trim_start_matches(space);
    }
    found
}

fn symbol(first: char, rest: &str) -> (Token, usize) {
    match first {
        '=' if rest.starts_with("==") => (Token::DoubleEquals, 2),
        '!' if rest.starts_with("!=") => (Token::NotEquals, 2),
        '=' => (Token::Equals, 1),
        '!' => (Token::Not, 1),
        '(' => (Token::Open, 1),
        ')' => (Token::Close, 1),
        ',' => (Token::Comma, 1),
        '>' => (Token::Greater, 1),
        _ => (Token::Less, 1),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;

    use super::*;

    fn labels(text: &str) -> Labels {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(k, v)| (k.into(), v.into())).collect()
    }

    #[test]
    fn parses_and_formats_selectors_like_upstream() {
        // The input, and the selector's string form.
        for (text, back) in [
            ("", ""),
            (" ", ""),
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("z=c , x = a", "x=a,z=c"),
            ("x==a", "x==a"),
            ("x!=a,y=b", "x!=a,y=b"),
            ("x=", "x="),
            ("x= ,z= ", "x=,z="),
            ("!x", "!x"),
            ("x", "x"),
            ("x>1,z<5", "x>1,z<5"),
            ("x in (b,a,b),!f", "!f,x in (a,b)"),
            ("x notin ()", "x notin ()"),
            ("x in (,a)", "x in (,a)"),
            ("x in (a,)", "x in (,a)"),
            ("x in (in,notin)", "x in (in,notin)"),
            ("notin=in", "notin=in"),
            ("in in (in)", "in in (in)"),
            ("example.com/app=a_b.C", "example.com/app=a_b.C"),
        ] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.to_string(), back, "{text}");
            assert_eq!(selector.is_empty(), back.is_empty(), "{text}");
            assert_eq!(Selector::parse(back).unwrap(), selector, "{text}");
        }
    }

    #[test]
    fn errors_have_the_texts_of_upstream() {
        for (text, error) in [
            (
                "x=a||y=b",
                "values[0][x]: Invalid value: \"a||y\": a valid label must",
            ),
            ("x==a==b", "found '==', expected: ',' or 'end of string'"),
            ("!x=a", "found '=', expected: ',' or 'end of string'"),
            (
                "x<a",
                "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
            ("x=a,", "found '', expected: identifier after ','"),
            (
                ",x",
                "found ',', expected: !, identifier, or 'end of string'",
            ),
            (
                "x exists y",
                "unable to parse requirement: found 'exists', expected: in, notin, =, ==, !=, gt, lt",
            ),
            (
                "x=(",
                "unable to parse requirement: found '(', expected: identifier",
            ),
            (
                "!",
                "unable to parse requirement: found '', expected: identifier",
            ),
            (
                "x in",
                "unable to parse requirement: found '' expected: '('",
            ),
            (
                "x in (a",
                "unable to parse requirement: found '', expected: ',' or ')'",
            ),
            (
                "x in (=",
                "unable to parse requirement: found '=', expected: ',', ')' or identifier",
            ),
            (
                "x in (a,=)",
                "unable to parse requirement: found '=', expected: ',', or identifier",
            ),
            (
                "-x",
                "unable to parse requirement: <nil>: Invalid value: \"-x\": name part must consist of alphanumeric characters",
            ),
            ("/x", "prefix part must be non-empty"),
            (
                "a/b/c",
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            ),
            ("Ä=a", "name part must consist of"),
            (
                "x=_",
                "unable to parse requirement: values[0][x]: Invalid value: \"_\": a valid label must be an empty string or",
            ),
        ] {
            let found = Selector::parse(text).expect_err(text).to_string();
            assert!(found.contains(error), "{text}: {found}");
        }
    }

    #[test]
    fn selects_the_same_labels_as_upstream() {
        for (selector, of, chosen) in [
            ("", "x=y", true),
            ("x=y", "x=y", true),
            ("x=y,z=w", "x=y,z=w", true),
            ("x!=y,z!=w", "x=z,z=a", true),
            ("x!=y", "", true),
            ("notin=in", "notin=in", true),
            ("x", "x=z", true),
            ("!x", "y=z", true),
            ("x>1", "x=2", true),
            ("x<1", "x=0", true),
            ("x>1", "x=b", false),
            ("x<1", "", false),
            ("x=z", "", false),
            ("x=y", "x=z", false),
            ("x=y,z=w", "x=w,z=w", false),
            ("x!=y,z!=w", "x=z,z=w", false),
            ("x", "y=z", false),
            ("!x", "x=z", false),
            ("x in (a,b)", "x=b", true),
            ("x in (a,b)", "", false),
            ("x notin (a,b)", "", true),
            ("x notin (a,b)", "x=a", false),
            ("x in ()", "x=", true),
        ] {
            let parsed = Selector::parse(selector).unwrap();
            assert_eq!(parsed.matches(&labels(of)), chosen, "{selector} of {of}");
        }
        assert!(!Selector::nothing().matches(&labels("x=y")));
        assert!(!Selector::nothing().is_empty());
        assert!(Selector::from_set(&labels("x=y,a=b")).matches(&labels("x=y,a=b,c=d")));
    }

    #[test]
    fn combines_match_labels_with_match_expressions() {
        let expression = |key: &str, operator: &str, values: &[&str]| LabelSelectorRequirement {
            key: key.into(),
            operator: operator.into(),
            values: (!values.is_empty()).then(|| values.iter().map(|v| (*v).into()).collect()),
        };
        let selector = |expressions| LabelSelector {
            match_labels: Some(labels("b=c")),
            match_expressions: Some(expressions),
        };
        let read = |expressions| {
            Selector::from_label_selector(Some(&selector(expressions)))
                .map(|selector| selector.to_string())
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            read(vec![
                expression("d", "NotIn", &["y", "x"]),
                expression("c", "In", &["z"]),
                expression("a", "Exists", &[]),
                expression("e", "DoesNotExist", &[]),
            ])
            .unwrap(),
            "a,b=c,c in (z),d notin (x,y),!e"
        );
        assert_eq!(
            read(vec![expression("a", "in", &["b"])]).unwrap_err(),
            "\"in\" is not a valid label selector operator"
        );
        let unseen = read(vec![expression("a\u{200b}", "Exists", &["<"])]).unwrap_err();
        assert!(
            unseen.starts_with(r#"[key: Invalid value: "a\u200b": "#)
                && unseen.contains(r#"values: Invalid value: ["\u003c"]: "#),
            "{unseen}"
        );
        assert_eq!(
            read(vec![expression("a", "In", &[])]).unwrap_err(),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        );
        assert_eq!(
            read(vec![expression("a", "Exists", &["b", "c"])]).unwrap_err(),
            "values: Invalid value: [\"b\",\"c\"]: values set must be empty for exists and does not exist"
        );
        assert!(
            Selector::from_label_selector(None)
                .unwrap()
                .matches_nothing()
        );
        let empty = Selector::from_label_selector(Some(&LabelSelector::default())).unwrap();
        assert_eq!(empty, Selector::everything());
    }

    #[test]
    fn finds_the_only_allowed_value_of_a_label() {
        let selector = Selector::parse("a=b,c in (d),e in (f,g),h").unwrap();
        for (label, value) in [
            ("a", Some("b")),
            ("c", Some("d")),
            ("e", None),
            ("h", None),
            ("i", None),
        ] {
            assert_eq!(selector.requires_exact_match(label), value, "{label}");
        }
    }
}
