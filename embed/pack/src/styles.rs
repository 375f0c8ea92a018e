//! The page's styles, translated for a shadow root: what depends on the window there depends on the element's frame
//! here.
//!
//! - `rem` is the page's own; here it is `var(--rem)`, which the frame sets.
//! - A media query for a width or a height becomes a query of the container `ds`. The break between narrow and wide
//!   becomes the frame's class, because it also depends on what is shown. (Two names for the container would do the
//!   same, but Firefox does not notice when a container's name changes.)
//! - `:root` becomes the host, `body` becomes `.ds`, and rules for `html` are left out.
//! - Each token can be set from outside, as `--ds-` and its name.
//!
//! Anything else is an error: it would depend on the surrounding page, or be lost.

/// Lengths that depend on the window, and their counterparts.
const VIEWPORT: [(&str, &str); 5] = [
    ("dvh", "cqh"),
    ("vh", "cqh"),
    ("dvw", "cqw"),
    ("vw", "cqw"),
    ("svh", "cqh"),
];

/// Lengths that depend on the window or on the root's font, and have no counterpart here.
const WITHOUT_COUNTERPART: [&str; 24] = [
    "svw", "lvh", "lvw", "vi", "svi", "lvi", "dvi", "vb", "svb", "lvb", "dvb", "vmin", "svmin",
    "lvmin", "dvmin", "vmax", "svmax", "lvmax", "dvmax", "rex", "rch", "rcap", "ric", "rlh",
];

/// Translates a style sheet for a shadow root. `is_window` keeps what depends on the window (dialogs are above the
/// whole page); `tokens` allows the outside to set them.
///
/// # Errors
/// Fails at anything that cannot be translated; the error quotes it.
pub(crate) fn shadowed(css: &str, is_window: bool, tokens: bool) -> Result<String, String> {
    let css = without_comments(css)?;
    let mut out = String::new();
    block(&css, is_window, tokens, &mut out)?;
    Ok(out)
}

fn without_comments(css: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        let ended = after.split_once("*/");
        (_, rest) = ended.ok_or_else(|| wrong("a comment is not closed", after))?;
    }
    out.push_str(rest);
    Ok(out)
}

fn wrong(what: &str, text: &str) -> String {
    let text: String = squeezed(text).chars().take(60).collect();
    format!("{what}, at `{text}`")
}

/// A sequence of rules.
fn block(css: &str, is_window: bool, tokens: bool, out: &mut String) -> Result<(), String> {
    let mut rest = css;
    while let Some((prelude, after)) = rest.split_once('{') {
        let prelude = squeezed(prelude);
        let ended = split_at_end(after);
        let (body, next) = ended.ok_or_else(|| wrong("a block is not closed", &prelude))?;
        rest = next;
        if prelude.contains('&') {
            return Err(wrong("rules within rules are not translated", &prelude));
        }
        if prelude.contains([';', '}']) {
            return Err(wrong("only rules are translated", &prelude));
        }
        if prelude.starts_with("@media") {
            let (opens, closes) = media(&prelude);
            out.push_str(&opens);
            block(body, is_window, tokens, out)?;
            out.push_str(closes);
        } else if ["@keyframes", "@container"]
            .iter()
            .any(|at| prelude.starts_with(at))
        {
            out.push_str(&format!("{prelude}{{"));
            block(body, is_window, false, out)?;
            out.push_str("}\n");
        } else if prelude.starts_with('@') {
            return Err(wrong(
                "of at-rules only @media, @container and @keyframes are translated",
                &prelude,
            ));
        } else if let Some(selectors) = selectors(&prelude) {
            let is_root = selectors == ":host";
            let body = declarations(body, is_window, tokens && is_root)?;
            out.push_str(&format!("{selectors}{{{body}}}\n"));
        }
    }
    if rest.trim().is_empty() {
        Ok(())
    } else {
        Err(wrong("only rules are translated", rest))
    }
}

/// The text before the brace that closes a block, and the text after it.
fn split_at_end(css: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, sign) in css.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&css[..at], &css[at + 1..]));
        }
    }
    None
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The opening and the closing of the block for a media query. The frame's class does not change the specificity of
/// the rules, just as a media query would not.
fn media(prelude: &str) -> (String, &'static str) {
    if !prelude.contains("width") && !prelude.contains("height") {
        return (format!("{prelude}{{"), "}\n");
    }
    let query = prelude.trim_start_matches("@media").trim();
    const NARROW: &str = "(max-width: 56.24em)";
    const WIDE: &str = "(min-width: 56.25em)";
    const IF_NARROW: &str = ":where(.frame.narrow){";
    const IF_WIDE: &str = ":where(.frame:not(.narrow)){";
    if query == NARROW {
        return (IF_NARROW.to_owned(), "}\n");
    }
    for with in [format!(" and {WIDE}"), format!("{WIDE} and ")] {
        if query.contains(&with) {
            let query = query.replace(&with, "");
            return (format!("{IF_WIDE}@container ds {query}{{"), "}}\n");
        }
    }
    if query == WIDE {
        return (IF_WIDE.to_owned(), "}\n");
    }
    let query = query.replace("), (", ") or (");
    (format!("@container ds {query}{{"), "}\n")
}

/// The selectors that match in a shadow root; none if no selector does.
fn selectors(prelude: &str) -> Option<String> {
    let kept: Vec<String> = prelude
        .split(',')
        .map(str::trim)
        .filter(|selector| !selector.starts_with("html"))
        .map(|selector| {
            let host = selector.replace(":root", ":host");
            match host.strip_prefix("body") {
                Some(rest) => format!(".ds{rest}"),
                None => host,
            }
        })
        .collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

fn declarations(body: &str, is_window: bool, tokens: bool) -> Result<String, String> {
    if body.contains('{') {
        return Err(wrong("rules within rules are not translated", body));
    }
    let mut out = String::new();
    for declaration in body.split(';').filter(|one| !one.trim().is_empty()) {
        let Some((name, value)) = declaration.split_once(':') else {
            return Err(wrong("this is no declaration", declaration));
        };
        let (name, value) = (name.trim(), lengths(&squeezed(value), is_window)?);
        if let Some(token) = name.strip_prefix("--").filter(|_| tokens) {
            out.push_str(&format!("{name}:var(--ds-{token},{value});"));
        } else {
            out.push_str(&format!("{name}:{value};"));
        }
    }
    Ok(out)
}

/// Translates the lengths in a value.
fn lengths(value: &str, is_window: bool) -> Result<String, String> {
    let mut out = String::new();
    let bytes = value.as_bytes();
    let mut at = 0;
    let mut before = b' ';
    while at < bytes.len() {
        let rest = &value[at..];
        let is_start =
            !before.is_ascii_alphanumeric() && !matches!(before, b'-' | b'_' | b'#' | b'.');
        let number = if is_start { number(rest) } else { 0 };
        if number == 0 {
            let sign = rest.chars().next().unwrap_or(' ');
            out.push(sign);
            before = bytes[at];
            at += sign.len_utf8();
            continue;
        }
        let (digits, after) = rest.split_at(number);
        let unit: String = after
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let viewport = VIEWPORT.iter().find(|(name, _)| *name == unit);
        match viewport {
            _ if unit == "rem" => out.push_str(&format!("calc({digits}*var(--rem))")),
            Some((_, container)) if !is_window => out.push_str(&format!("{digits}{container}")),
            _ if !is_window && WITHOUT_COUNTERPART.contains(&&*unit) => {
                return Err(wrong(
                    &format!(
                        "the unit {unit} is not translated; write vw, vh, dvw, dvh, svh or rem"
                    ),
                    value,
                ));
            }
            _ => out.push_str(&format!("{digits}{unit}")),
        }
        at += number + unit.len();
        before = bytes[at - 1];
    }
    Ok(out)
}

/// The length of the number at the start of a text.
fn number(text: &str) -> usize {
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..]
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let has_digit = text[sign..sign + digits]
        .bytes()
        .any(|byte| byte.is_ascii_digit());
    if has_digit { sign + digits } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_window_depends_on_the_frame() {
        for (css, expected) in [
            (
                "a { margin: -0.5rem 1px 2rem; }",
                "a{margin:calc(-0.5*var(--rem)) 1px calc(2*var(--rem));}\n",
            ),
            (
                "a{font:0.875rem/1.4 var(--x-2rem)}",
                "a{font:calc(0.875*var(--rem))/1.4 var(--x-2rem);}\n",
            ),
            (
                "body > .b, html { height: 100dvh }",
                ".ds > .b{height:100cqh;}\n",
            ),
            ("html{color:red}/* x */", ""),
            (
                "@media (max-width: 56.24em){a{b:c}}",
                ":where(.frame.narrow){a{b:c;}\n}\n",
            ),
            (
                "@media (max-width: 74.99em), (max-height: 49.99em) {a{b:c}}",
                "@container ds (max-width: 74.99em) or (max-height: 49.99em){a{b:c;}\n}\n",
            ),
            (
                "@media (max-height: 49.99em) and (min-width: 56.25em) {a{b:c}}",
                ":where(.frame:not(.narrow)){@container ds (max-height: 49.99em){a{b:c;}\n}}\n",
            ),
            (
                "@media (prefers-reduced-motion: reduce){a{b:c}}",
                "@media (prefers-reduced-motion: reduce){a{b:c;}\n}\n",
            ),
            (
                "@container ds (width > 1em){a{b:1rem}}",
                "@container ds (width > 1em){a{b:calc(1*var(--rem));}\n}\n",
            ),
            (
                "@keyframes x{from{top:1rem}to{top:0}}",
                "@keyframes x{from{top:calc(1*var(--rem));}\nto{top:0;}\n}\n",
            ),
        ] {
            assert_eq!(
                shadowed(css, false, false).as_deref(),
                Ok(expected),
                "{css}"
            );
        }
        for css in ["a{b:9vw;}\n", "a{b:9vmin;}\n"] {
            assert_eq!(shadowed(css, true, false).as_deref(), Ok(css));
        }
        assert_eq!(
            shadowed(":root{--ink: light-dark(x, y)}", false, true).as_deref(),
            Ok(":host{--ink:var(--ds-ink,light-dark(x, y));}\n")
        );
    }

    #[test]
    fn what_cannot_be_translated_is_reported() {
        for unit in WITHOUT_COUNTERPART {
            let told = shadowed(&format!("a{{b:calc(1px + 2{unit})}}"), false, false);
            let told = told.unwrap_err();
            assert!(
                told.starts_with(&format!("the unit {unit} is not")),
                "{told}"
            );
        }
        for (css, expected) in [
            (
                "a{b:c} .d { &:hover { e:f } }",
                "rules within rules are not translated, at `&:hover { e:f }`",
            ),
            (
                "a{b:c; .d{e:f}}",
                "rules within rules are not translated, at `b:c; .d{e:f}`",
            ),
            (
                "& .a{b:c}",
                "rules within rules are not translated, at `& .a`",
            ),
            (
                "@supports (a: b){c{d:e}}",
                "of at-rules only @media, @container and @keyframes are translated, at `@supports (a: b)`",
            ),
            (
                "@media (max-width: 24em){@layer x{c{d:e}}}",
                "of at-rules only @media, @container and @keyframes are translated, at `@layer x`",
            ),
            (
                "@import \"x.css\"; a{b:c}",
                "only rules are translated, at `@import \"x.css\"; a`",
            ),
            ("a{b:c}} d{e:f}", "only rules are translated, at `} d`"),
            ("a{b:c} d", "only rules are translated, at `d`"),
            ("a{b:c", "a block is not closed, at `a`"),
            (
                "@media print{a{b:c}",
                "a block is not closed, at `@media print`",
            ),
            ("a{b:c} /* d", "a comment is not closed, at `d`"),
            ("a{b:c; d}", "this is no declaration, at `d`"),
        ] {
            assert_eq!(
                shadowed(css, false, false),
                Err(expected.to_owned()),
                "{css}"
            );
        }
    }
}
