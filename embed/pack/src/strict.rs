//! Takes the styles and the start script out of the page and states the policy that no others run: text from a
//! cluster can then be no more than text, whatever a mistake makes of it.

use std::hash::{DefaultHasher, Hasher};

/// Scripts and styles are the page's own files. It asks whatever cluster its user names.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src *; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types default";

/// A file of the page.
type File = (String, String);

/// When a style of the page is fetched: with the page, with the rest of the program, or with what is seldom needed (`split.js`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comes {
    First,
    Later,
    Seldom,
}

impl Comes {
    /// As the link of a style in index.html says: without `data-comes`, with the page.
    pub(crate) fn of(link: &str) -> Result<Self, String> {
        let said = link.split("data-comes=\"").nth(1);
        match said.and_then(|said| said.split('"').next()) {
            None => Ok(Self::First),
            Some("later") => Ok(Self::Later),
            Some("seldom") => Ok(Self::Seldom),
            Some(other) => Err(format!(
                "index.html: data-comes is \"later\" or \"seldom\", not \"{other}\": {link}"
            )),
        }
    }

    /// The begin of a file's name, and what its link says.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::First => ("page", ""),
            Self::Later => ("later", " data-later disabled"),
            Self::Seldom => ("seldom", " data-seldom disabled"),
        }
    }
}

/// The page without inline styles and scripts, and the files that have them. `comes`: when each of its styles is fetched. Each keeps
/// its place among the others, for the last rule wins.
pub(crate) fn strict(page: &str, comes: &[Comes]) -> Result<(String, Vec<File>), String> {
    let (page, styles) = without(page, "<style>", "</style>");
    let (page, scripts) = without(&page, "<script type=module>", "</script>");
    if styles.is_empty() || scripts.is_empty() {
        return Err("index.html has no inline styles or no start script".to_owned());
    }
    if styles.len() != comes.len() {
        let (found, named) = (styles.len(), comes.len());
        return Err(format!(
            "the page has {found} inline styles, index.html names {named}"
        ));
    }
    let mut sheets: Vec<(Comes, String)> = Vec::new();
    for (text, &comes) in styles.iter().zip(comes) {
        match sheets.last_mut() {
            Some((of, sheet)) if *of == comes => sheet.push_str(text),
            _ => sheets.push((comes, text.clone())),
        }
    }
    let mut files = Vec::new();
    let mut links = String::new();
    for (comes, text) in sheets {
        let (stem, waits) = comes.words();
        let file = named(stem, "css", text);
        links.push_str(&format!("<link rel=stylesheet href=./{}{waits}>", file.0));
        files.push(file);
    }
    let start = named("start", "js", scripts.join("\n"));
    let head = "<meta charset=utf-8>";
    let added = format!(
        "{head}<meta http-equiv=content-security-policy content=\"{POLICY}\">\
         {links}<script type=module src=./{}></script>",
        start.0
    );
    // After the script that outlives it: modules run in the order of the page.
    let rescue = "<script src=./rescue.js type=module></script>";
    if !page.contains(head) || !page.contains(rescue) {
        return Err("index.html has no charset or no rescue.js where trunk puts it".to_owned());
    }
    let page = page.replacen(rescue, "", 1).replacen(
        head,
        &added.replacen("<script", &format!("{rescue}<script"), 1),
        1,
    );
    files.push(start);
    Ok((page, files))
}

/// A page that was built anew must not meet an old file in a cache.
fn named(stem: &str, ending: &str, text: String) -> File {
    let mut hash = DefaultHasher::new();
    hash.write(text.as_bytes());
    (format!("{stem}-{:016x}.{ending}", hash.finish()), text)
}

/// The text without what stands between two marks, and that, in its order.
fn without(text: &str, open: &str, close: &str) -> (String, Vec<String>) {
    let (mut rest, mut kept, mut taken) = (text, String::new(), Vec::new());
    while let Some((before, after)) = rest.split_once(open) {
        let Some((inside, after)) = after.split_once(close) else {
            break;
        };
        kept.push_str(before);
        taken.push(inside.to_owned());
        rest = after;
    }
    kept.push_str(rest);
    (kept, taken)
}

#[cfg(test)]
mod tests {
    use super::{Comes, strict};

    #[test]
    fn a_link_says_when_its_style_is_fetched() {
        let of = |said| Comes::of(&format!("<link data-trunk {said} href=style/a.css>"));
        assert!(of("") == Ok(Comes::First));
        assert!(of("data-comes=\"later\"") == Ok(Comes::Later));
        assert!(of("data-comes=\"seldom\"") == Ok(Comes::Seldom));
        assert!(of("data-comes=\"soon\"").is_err());
    }

    #[test]
    fn nothing_inline_is_left() {
        let page = "<!doctype html><html><meta charset=utf-8><style>a{}</style><style>b{}</style><style>c{}</style><style>d{}</style>\
            <script src=./rescue.js type=module></script><script type=module>start()</script><body>";
        let comes = [Comes::First, Comes::First, Comes::Seldom, Comes::Later];
        let (html, files) = strict(page, &comes).unwrap();
        let texts: Vec<_> = files.iter().map(|(_, text)| &**text).collect();
        assert_eq!(texts, ["a{}b{}", "c{}", "d{}", "start()"]);
        assert_eq!(html.matches("disabled").count(), 2);
        assert!(
            !html.contains("<style") && !html.contains("start()"),
            "{html}"
        );
        let order = [
            "content-security-policy",
            &*files[0].0,
            &*files[1].0,
            "data-seldom disabled",
            &*files[2].0,
            "rescue.js",
            &*files[3].0,
            "<body>",
        ];
        let places: Vec<_> = order.iter().map(|part| html.find(part).unwrap()).collect();
        assert!(places.is_sorted(), "{html}");
        assert_eq!(html.matches("rescue.js").count(), 1);
        // Another text has another name.
        let other = strict(&page.replace("a{}", "e{}"), &comes).unwrap().1;
        assert!(other[0].0 != files[0].0 && other[3].0 == files[3].0);
        assert!(strict(&html, &comes).is_err());
        assert!(strict(page, &comes[1..]).is_err());
    }
}
