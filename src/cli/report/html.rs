//! The report as a page of its own: no script, nothing that is fetched.

use std::fmt::Write as _;
use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use deltascope_replay::tap::finding::Finding;
use deltascope_replay::wall;
use deltascope_world::source::visible;
use deltascope_world::text::Lang;

use super::{Observed, words};

/// System colours, so that the page is as dark as its reader likes.
const STYLE: &str = "\
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:76rem;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid GrayText;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
li{margin:.6rem 0}
code{font-size:.875rem;overflow-wrap:anywhere}
.small{color:GrayText;font-size:.875rem}";

/// What a part of a URL's path may not have as it is.
const OUTSIDE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The whole page, for a file at this path.
pub(super) fn of(observed: &Observed, found: &[Finding], path: &Path, lang: Lang) -> String {
    let (code, title, none) = lang.pick(
        ("en", "What this controller does", "Nothing odd was found."),
        ("zh-CN", "这个控制器做了什么", "没有发现异常。"),
    );
    let mut page = format!(
        "<!doctype html>\n<html lang=\"{code}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>\n{STYLE}\n</style></head><body>\n<h1>{title}</h1>\n"
    );
    let start = observed.start.map(wall::written).unwrap_or_default();
    let summary = text(&words::summary(observed, lang));
    let _ = writeln!(
        page,
        "<p>{summary} <span class=\"small\">{start}</span></p>"
    );
    let heading = lang.pick("Findings", "发现");
    let _ = writeln!(page, "<h2>{heading}</h2>");
    if found.is_empty() {
        let _ = writeln!(page, "<p>{none}</p>");
    } else {
        page.push_str("<ol>\n");
        for (place, one) in found.iter().enumerate() {
            let number = place + 1;
            let said = words::finding(one, &observed.informers);
            let _ = write!(
                page,
                "<li id=\"{}-{number}\">{}",
                one.odd.id(),
                text(said.get(lang))
            );
            if let Some(place) = one.informer {
                let number = place + 1;
                let _ = write!(page, " <a href=\"#informer-{number}\">№ {number}</a>");
            }
            if let Some(command) = words::command(one, observed) {
                let _ = write!(page, "<br><code>{}</code>", text(&command));
            }
            page.push_str("</li>\n");
        }
        page.push_str("</ol>\n");
    }
    for said in words::all_logs(observed) {
        let _ = writeln!(page, "<p>{}</p>", text(said.get(lang)));
    }
    informers(observed, path, lang, &mut page);
    others(observed, lang, &mut page);
    page.push_str("</body></html>\n");
    page
}

fn informers(observed: &Observed, path: &Path, lang: Lang, page: &mut String) {
    page.push_str("<h2>informer</h2>\n<div class=\"wide\"><table><tr><th>№</th>");
    let of = lang.pick(
        [
            "client",
            "received",
            "managed fields",
            "client-go",
            "recording",
        ],
        ["客户端", "收到", "managedFields", "client-go", "录制"],
    );
    for (place, (en, zh)) in words::COLUMNS.iter().enumerate() {
        let name = lang.pick(en, zh);
        let _ = write!(page, "<th{}>{name}</th>", right(place));
    }
    for name in of {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr>\n");
    for (place, informer) in observed.informers.iter().enumerate() {
        let (number, ledger, file) = (place + 1, &informer.ledger, informer.file());
        let _ = write!(page, "<tr id=\"informer-{number}\"><td>{number}</td>");
        for (column, cell) in words::row(ledger, lang).iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", right(column), text(cell));
        }
        let version = words::version(ledger);
        let file = match link(path, &file) {
            Some(link) => format!("<a href=\"{link}\">{}</a>", text(&file)),
            None => text(&file),
        };
        let stopped = words::stopped(ledger).map_or_else(String::new, |said| {
            format!("<br><span class=\"small\">{}</span>", text(said.get(lang)))
        });
        let _ = writeln!(
            page,
            "<td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{version}</td><td>{file}{stopped}</td></tr>",
            text(words::client(&ledger.agent)),
            words::size(ledger.came),
            words::size(ledger.managed),
        );
    }
    page.push_str("</table></div>\n");
}

/// The way from a report to a file, as a URL; none without a file.
fn link(report: &Path, file: &str) -> Option<String> {
    if file.is_empty() {
        return None;
    }
    let (mut from, to) = (parts(report)?, parts(Path::new(file))?);
    from.pop();
    let alike = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // On another drive.
    if alike == 0 {
        return None;
    }
    let up = from.iter().skip(alike).map(|_| "..".to_owned());
    let down = to.iter().skip(alike);
    let down = down.map(|part| utf8_percent_encode(part, OUTSIDE).to_string());
    // With it, a colon in the name is no scheme.
    let steps: Vec<_> = std::iter::once(".".to_owned())
        .chain(up)
        .chain(down)
        .collect();
    Some(steps.join("/"))
}

/// The parts of a path from the root on, as a browser resolves it.
fn parts(path: &Path) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.len() > 1 => {
                parts.pop();
            }
            Component::ParentDir => {}
            part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
        }
    }
    Some(parts)
}

fn right(column: usize) -> &'static str {
    match column {
        1..=4 => " class=\"n\"",
        _ => "",
    }
}

fn others(observed: &Observed, lang: Lang, page: &mut String) {
    if observed.counts.is_empty() {
        return;
    }
    let (title, names) = lang.pick(
        (
            "Other requests",
            ["client", "verb", "resource", "times", "failed"],
        ),
        ("其他请求", ["客户端", "动作", "资源", "次数", "失败"]),
    );
    let _ = write!(page, "<h2>{title}</h2>\n<div class=\"wide\"><table><tr>");
    for name in names {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr>\n");
    for ((agent, verb, resource), count) in &observed.counts {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{verb}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            text(words::client(agent)),
            text(resource),
            count.times,
            count.failed
        );
    }
    page.push_str("</table></div>\n");
}

/// Text of others in markup, and in attributes.
fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible::line(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use deltascope_replay::tap::finding::Odd;

    use super::*;

    #[test]
    fn recordings_are_linked_from_where_the_report_lies() {
        let table = [
            (
                "run.html",
                "run/01-pods-all.jsonl",
                Some("./run/01-pods-all.jsonl"),
            ),
            ("run/run.html", "run/a.jsonl", Some("./a.jsonl")),
            ("out/run.html", "run/a.jsonl", Some("./../run/a.jsonl")),
            ("out/../run.html", "./run/a.jsonl", Some("./run/a.jsonl")),
            (
                "run.html",
                "a b/50%#?.jsonl",
                Some("./a%20b/50%25%23%3F.jsonl"),
            ),
            ("run.html", "a\"><b:.jsonl", Some("./a%22%3E%3Cb%3A.jsonl")),
            ("run.html", "", None),
        ];
        for (report, file, wanted) in table {
            let found = link(Path::new(report), file);
            assert_eq!(found.as_deref(), wanted, "{report} {file}");
        }
    }

    #[test]
    fn each_finding_has_an_id_of_its_own() {
        let found = [0, 1].map(|informer| Finding::new(informer, None, Odd::AllSecrets));
        let observed = Observed {
            informers: vec![Default::default(), Default::default()],
            ..Observed::default()
        };
        let page = of(&observed, &found, Path::new("run.html"), Lang::En);
        for id in ["all-secrets-1", "all-secrets-2"] {
            assert!(page.contains(&format!("<li id=\"{id}\">")), "{page}");
        }
        assert!(!page.contains("<a href=\"\">"), "{page}");
    }
}
