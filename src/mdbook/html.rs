//! What replaces a block: the element with its picture and transcript, or these alone.

use serde_json::Value;

use deltascope_presentation::caption::Span;
use deltascope_world::text::Lang;

use super::block::Block;
use super::words::{Transcript, gap, spans};

/// A block's picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Poster {
    /// Relative to the page.
    pub(super) address: String,
    /// Width and height.
    pub(super) size: (i32, i32),
    /// The picture for narrow screens, and the widest screen that shows it, in px.
    pub(super) narrow: Option<(Box<Self>, i32)>,
}

/// Surrounds text that mdBook's search should not find, because it repeats in every run. A browser sees two empty
/// drawings. mdBook sees one script and takes the text for its content: it passes it through and does not index
/// it.
const UNSEARCHED: [&str; 2] = [
    "<svg display=\"none\"><script type=\"text/plain\"></svg>",
    "<svg display=\"none\"><script type=\"text/plain\"></script></svg>",
];

/// The element, as one line: a blank line would end the HTML, and containers prefix each line.
pub(super) fn figure(block: &mut Block, poster: &Poster, link: Option<&str>) -> String {
    let lang = block.options.lang.unwrap_or_default();
    let transcript = Transcript::of(&mut block.session, lang);
    let mut out = String::from("<figure class=\"deltascope\"><delta-scope");
    for (key, value) in &block.attributes {
        attribute(&mut out, key.id(), value);
    }
    out.push('>');
    if let Some(scenario) = &block.scenario {
        out.push_str("<script type=\"application/json\">");
        out.push_str(&script(scenario));
        out.push_str("</script>");
    }
    out.push_str("<picture slot=\"poster\">");
    if let Some((narrow, most)) = &poster.narrow {
        out.push_str("<source");
        attribute(&mut out, "media", &format!("(max-width: {most}px)"));
        picture(&mut out, "srcset", narrow);
        out.push('>');
    }
    out.push_str("<img");
    picture(&mut out, "src", poster);
    attribute(&mut out, "alt", &alt(block, &transcript, lang));
    out.push_str("></picture></delta-scope>");
    if let Some(caption) = block
        .caption
        .as_deref()
        .filter(|caption| !caption.is_empty())
    {
        out.push_str("<figcaption>");
        coded(&mut out, caption);
        out.push_str("</figcaption>");
    }
    let [before, after] = UNSEARCHED;
    if let Some(link) = link {
        out.push_str(before);
        out.push_str("<a class=\"deltascope-open\"");
        attribute(&mut out, "href", link);
        out.push('>');
        out.push_str(open_here(lang));
        out.push_str("</a>");
        out.push_str(after);
    }
    out.push_str("</figure>");
    out.push_str(before);
    out.push_str("<div class=\"deltascope-transcript\"");
    attribute(&mut out, "lang", code(lang));
    out.push('>');
    write_transcript(&mut out, &transcript, lang);
    out.push_str("</div>");
    out.push_str(after);
    out
}

/// Loads the element's script and styles, once per page.
pub(super) fn loader(assets: &str) -> String {
    let mut out = String::from("<link rel=\"stylesheet\"");
    attribute(&mut out, "href", &format!("{assets}/deltascope.css"));
    out.push_str("><script type=\"module\"");
    attribute(&mut out, "src", &format!("{assets}/deltascope.js"));
    out.push_str("></script>");
    out
}

/// The picture and the transcript as Markdown, for other renderers.
pub(super) fn markdown(block: &mut Block, poster: &Poster, link: Option<&str>) -> String {
    let lang = block.options.lang.unwrap_or_default();
    let transcript = Transcript::of(&mut block.session, lang);
    let mut out = format!(
        "![{}]({})\n\n",
        escaped(&alt(block, &transcript, lang)),
        poster.address
    );
    if let Some(caption) = block
        .caption
        .as_deref()
        .filter(|caption| !caption.is_empty())
    {
        let parts: Vec<String> = parts(caption)
            .into_iter()
            .enumerate()
            .map(|(place, (part, is_code))| match (place, is_code) {
                (_, true) => format!("`{part}`"),
                (0, false) => begun(part),
                (_, false) => escaped(part),
            })
            .collect();
        out.push_str(&format!("{}\n\n", parts.concat()));
    }
    if let Some(link) = link {
        out.push_str(&format!("[{}](<{link}>)\n\n", open_here(lang)));
    }
    out.push_str(&format!("**{}**", escaped(&transcript.title)));
    if !transcript.note.is_empty() {
        out.push_str(&format!(" {}", escaped(&transcript.note)));
    }
    out.push_str(&format!("\n\n{}\n", begun(&transcript.before)));
    for (place, turn) in transcript.turns.iter().enumerate() {
        let facts: Vec<String> = turn
            .facts
            .iter()
            .map(|words| {
                let spans = spans(words, lang);
                spans
                    .iter()
                    .map(|span| match span {
                        Span::Text(text) => escaped(text),
                        Span::Name(text) => format!("**{}**", escaped(text)),
                        Span::Delta(_, text) | Span::Code(text) if !text.contains('`') => {
                            format!("`{text}`")
                        }
                        Span::Delta(_, text) | Span::Code(text) => escaped(text),
                    })
                    .collect()
            })
            .collect();
        let actor = escaped(&turn.actor);
        let gap = gap(lang);
        out.push_str(&format!(
            "\n{}. {}{}{actor}{}{gap}{}",
            place + 1,
            turn.time,
            comma(lang),
            colon(lang),
            facts.join(gap)
        ));
    }
    out.push('\n');
    out
}

fn open_here(lang: Lang) -> &'static str {
    lang.pick(
        "Open this moment in deltascope",
        "在 deltascope 里打开这一刻",
    )
}

fn picture(out: &mut String, name: &str, poster: &Poster) {
    attribute(out, name, &poster.address);
    attribute(out, "width", &poster.size.0.to_string());
    attribute(out, "height", &poster.size.1.to_string());
}

fn alt(block: &Block, transcript: &Transcript, lang: Lang) -> String {
    let own = block.alt.clone();
    own.unwrap_or_else(|| format!("{}: {}", transcript.title, transcript.now(lang)))
}

fn write_transcript(out: &mut String, transcript: &Transcript, lang: Lang) {
    out.push_str("<p><b>");
    text(out, &transcript.title);
    out.push_str("</b>");
    if !transcript.note.is_empty() {
        out.push(' ');
        text(out, &transcript.note);
    }
    out.push_str("</p><p>");
    text(out, &transcript.before);
    out.push_str("</p>");
    if transcript.turns.is_empty() {
        return;
    }
    out.push_str("<ol>");
    for turn in &transcript.turns {
        out.push_str("<li>");
        text(out, &turn.time);
        out.push_str(comma(lang));
        out.push_str(if turn.is_name {
            "<b translate=\"no\">"
        } else {
            "<b>"
        });
        text(out, &turn.actor);
        out.push_str("</b>");
        out.push_str(colon(lang));
        for words in &turn.facts {
            out.push_str(gap(lang));
            for span in spans(words, lang) {
                let (open, close) = match span {
                    Span::Text(_) => ("", ""),
                    Span::Name(_) => ("<b translate=\"no\">", "</b>"),
                    Span::Delta(..) => ("<i translate=\"no\">", "</i>"),
                    Span::Code(_) => ("<code translate=\"no\">", "</code>"),
                };
                out.push_str(open);
                text(out, span.as_str());
                out.push_str(close);
            }
        }
        out.push_str("</li>");
    }
    out.push_str("</ol>");
}

fn code(lang: Lang) -> &'static str {
    lang.pick("en", "zh")
}

fn comma(lang: Lang) -> &'static str {
    lang.pick(", ", "，")
}

fn colon(lang: Lang) -> &'static str {
    lang.pick(":", "：")
}

/// The parts of a caption, and whether each is code (in backticks).
fn parts(caption: &str) -> Vec<(&str, bool)> {
    if caption.matches('`').count() % 2 == 1 {
        return vec![(caption, false)];
    }
    let parts = caption.split('`').enumerate();
    parts.map(|(place, part)| (part, place % 2 == 1)).collect()
}

/// Text with code in backticks.
fn coded(out: &mut String, caption: &str) {
    for (part, is_code) in parts(caption) {
        out.push_str(if is_code {
            "<code translate=\"no\">"
        } else {
            ""
        });
        text(out, part);
        out.push_str(if is_code { "</code>" } else { "" });
    }
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    text(out, value);
    out.push('"');
}

/// Text escaped for HTML and for attributes; newlines become spaces.
pub(super) fn text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
}

/// JSON for a script element: it cannot end the script or begin a comment.
fn script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Text escaped for Markdown at the start of a paragraph, where a list, a quote, a heading or code could begin.
fn begun(text: &str) -> String {
    let text = escaped(text);
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    let means = match digits {
        0 => rest.starts_with(['-', '+', '=', ':']),
        _ => rest.starts_with(['.', ')']),
    };
    let mark = if means { "\\" } else { "" };
    format!("{number}{mark}{rest}")
}

/// Text escaped for Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~' | '$'
        ) {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        let written = |write: &dyn Fn(&mut String)| {
            let mut out = String::new();
            write(&mut out);
            out
        };
        for (out, expected) in [
            (
                written(&|out| text(out, "<b> & \"c\"\n")),
                "&lt;b&gt; &amp; &quot;c&quot; ",
            ),
            (
                written(&|out| coded(out, "`b` < c")),
                "<code translate=\"no\">b</code> &lt; c",
            ),
            (written(&|out| coded(out, "a ` b")), "a ` b"),
            (
                script(&json!({"a": "</script><!--"})),
                "{\"a\":\"\\u003c/script>\\u003c!--\"}",
            ),
            (escaped("a_b *c* [d]"), "a\\_b \\*c\\* \\[d\\]"),
            (escaped("&lt; 1. - +"), "\\&lt; 1. - +"),
            (begun("1. x 2."), "1\\. x 2."),
            (begun("10) x"), "10\\) x"),
            (begun("1 x"), "1 x"),
            (begun("- x - y"), "\\- x - y"),
            (begun("+ x"), "\\+ x"),
            (begun("# x"), "\\# x"),
            (begun("> x"), "\\> x"),
            (begun("* x"), "\\* x"),
            (begun(": x"), "\\: x"),
            (begun("\t    x"), "x"),
            (begun("甲 - 乙"), "甲 - 乙"),
        ] {
            assert_eq!(out, expected);
        }
    }
}
