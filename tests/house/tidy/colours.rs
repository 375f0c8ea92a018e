//! Colours are those of style/tokens.css.

use super::reading::{is_word, line_of, literals, without_css_comments};
use super::tree::{assert_none, files};

/// CSS colour names except `transparent` and `currentcolor`, which depend on their surroundings.
const COLOUR_NAMES: &str = "aliceblue antiquewhite aqua aquamarine azure beige bisque black \
    blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral \
    cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey \
    darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen \
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray \
    dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod \
    gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush \
    lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen \
    lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey \
    lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue \
    mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise \
    mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab \
    orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff \
    peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon \
    sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen \
    steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen";

/// Functions that make a colour from numbers. `color-mix` makes one from tokens.
const COLOUR_FUNCTIONS: [&str; 10] = [
    "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color",
];

#[test]
fn colours_are_tokens() {
    let mut found = Vec::new();
    for file in files(&["css"]) {
        if file.path != "style/tokens.css" {
            found.extend(colours_in_css(&file.path, &file.text));
        }
    }
    for file in files(&["rs"])
        .iter()
        .filter(|file| file.under("src/presentation/") || file.under("src/page/"))
        // A picture stands alone: it repeats some tokens, and a test of its own compares them.
        .filter(|file| file.path != "src/presentation/svg/colors.rs")
    {
        found.extend(colours_in_markup(&file.path, &file.text));
    }
    assert_none(&found);
}

fn colours_in_css(path: &str, text: &str) -> Vec<String> {
    let css = without_css_comments(text);
    let mut found = Vec::new();
    let mut start = 0;
    for (end, c) in css.char_indices() {
        if !matches!(c, '{' | '}' | ';') {
            continue;
        }
        // Text before an opening brace is a selector.
        if c != '{'
            && let Some((property, value)) = css[start..end].split_once(':')
            && let Some(colour) = colour(property.trim(), value)
        {
            let line = line_of(&css, start + css[start..end].find(value).unwrap());
            found.push(format!(
                "{path}:{line}: {colour} belongs into style/tokens.css"
            ));
        }
        start = end + 1;
    }
    found
}

fn colours_in_markup(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for literal in literals(text) {
        let mut colours = Vec::new();
        // A bare name is a colour only as the value of an attribute that takes one.
        let painted = ["fill", "stroke", "color", "stop-color", "flood-color"]
            .iter()
            .any(|name| text[..literal.start].ends_with(&format!("{name}=")));
        if painted || literal.value.contains('#') || literal.value.contains('(') {
            let property = if painted { "fill" } else { "content" };
            colours.extend(colour(property, &literal.value));
        }
        for declaration in literal.value.split(';') {
            if let Some((property, value)) = declaration.split_once(':')
                && [
                    "color",
                    "background",
                    "background-color",
                    "fill",
                    "stroke",
                    "border",
                    "outline",
                ]
                .contains(&property.trim())
            {
                colours.extend(colour(property.trim(), value));
            }
        }
        colours.sort();
        colours.dedup();
        for colour in colours {
            let line = line_of(text, literal.start);
            found.push(format!(
                "{path}:{line}: {colour} belongs into style/tokens.css"
            ));
        }
    }
    found
}

/// The first colour in a property's value.
fn colour(property: &str, value: &str) -> Option<String> {
    // The values of these properties are other names.
    let names_something_else = property.starts_with("grid")
        || property.starts_with("animation")
        || property.starts_with("font")
        || property.starts_with("view-transition")
        || property == "content"
        || property == "will-change";
    let value = value.to_ascii_lowercase();
    let mut before = ' ';
    let mut rest = value.as_str();
    while let Some(c) = rest.chars().next() {
        if c == '#' && !is_word(before) && before != '(' {
            let digits = rest[1..]
                .chars()
                .take_while(char::is_ascii_hexdigit)
                .count();
            let after = rest[1 + digits..].chars().next().unwrap_or(' ');
            if matches!(digits, 3 | 4 | 6 | 8) && !is_word(after) && after != '-' {
                return Some(rest[..=digits].to_owned());
            }
        }
        if c.is_ascii_alphabetic() {
            let length = rest.chars().take_while(|&c| is_word(c) || c == '-').count();
            let (word, after) = rest.split_at(length);
            if before != '-' {
                if after.starts_with('(') && COLOUR_FUNCTIONS.contains(&word) {
                    return Some(format!("{word}()"));
                }
                if !names_something_else
                    && !after.starts_with('(')
                    && COLOUR_NAMES.split(' ').any(|name| name == word)
                {
                    return Some(word.to_owned());
                }
            }
            before = 'a';
            rest = after;
        } else {
            before = c;
            rest = &rest[c.len_utf8()..];
        }
    }
    None
}

#[test]
fn colours_are_found() {
    let css = |text: &str| colours_in_css("a.css", text).len();
    assert_eq!(css("a { color: #fff; }"), 1);
    assert_eq!(css("a { color: red }"), 1);
    assert_eq!(
        css("@media print { a { border: 1px solid rgba(0, 0, 0, .5); } }"),
        1
    );
    assert_eq!(css("a { background: linear-gradient(white, var(--x)) }"), 1);
    assert_eq!(
        css("a { color: var(--red); background: color-mix(in srgb, var(--c) 9%, transparent) }"),
        0
    );
    assert_eq!(
        css("#add a:hover { grid-area: tan; color: currentColor } /* #fff */"),
        0
    );

    let markup = |text: &str| colours_in_markup("a.rs", text).len();
    assert_eq!(markup(r##"view! { <path fill="#07a" /> }"##), 1);
    assert_eq!(markup(r#"view! { <path stroke="black" /> }"#), 1);
    assert_eq!(markup(r#"view! { <p style="color: red">"x"</p> }"#), 1);
    assert_eq!(
        markup(r#"view! { <path fill="none" stroke="currentColor" /> "red (see below)" }"#),
        0
    );
    assert_eq!(
        markup(r##"view! { <use href="#arrow" marker="url(#dead)" /> } // #fff"##),
        0
    );
}
