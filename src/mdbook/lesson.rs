//! The links from a chapter to the lessons that name it.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use deltascope_presentation::story::Story;
use deltascope_presentation::strings::shelf::minutes;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_world::text::Lang;

use super::fence::markdown_options;
use super::html::text;

/// Puts a link to each lesson that names this chapter below the heading that it names, or at the end.
///
/// # Errors
/// A lesson names a heading that the chapter does not have.
pub(super) fn linked(
    content: &str,
    file: &str,
    page: &str,
    lang: Lang,
) -> Result<String, Vec<String>> {
    let headings = headings(content);
    let (mut links, mut wrong) = (Vec::new(), Vec::new());
    let all = lessons::menu().into_iter();
    for lesson in all.filter_map(|(id, _)| lessons::load(&id).ok()) {
        let Some(chapter) = &lesson.chapter else {
            continue;
        };
        if chapter.file(lang) != file {
            continue;
        }
        let place = match chapter.heading(lang) {
            None => Some(content.len()),
            Some(id) => {
                let found = headings.iter().find(|(heading, _)| heading == id);
                found.map(|(_, end)| *end)
            }
        };
        match place {
            Some(place) => links.push((place, link(&lesson, page, lang))),
            None => wrong.push(format!(
                "The lesson {:?} names the heading #{} of this chapter. There are: {}",
                lesson.id,
                chapter.heading(lang).unwrap_or_default(),
                headings
                    .iter()
                    .map(|(id, _)| format!("#{id}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    // In the menu's order where two have the same place.
    links.sort_by_key(|(place, _)| *place);
    let (mut out, mut written) = (String::new(), 0);
    for (place, link) in links {
        out.push_str(content.get(written..place).unwrap_or_default());
        out.push_str(&format!("\n\n{link}\n\n"));
        written = place;
    }
    out.push_str(content.get(written..).unwrap_or_default());
    Ok(out)
}

/// The ids that mdBook gives to the headings, and where each heading ends.
fn headings(content: &str) -> Vec<(String, usize)> {
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    let mut open: Option<(Option<String>, String)> = None;
    for (event, range) in Parser::new_ext(content, markdown_options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                open = Some((id.map(|id| id.to_string()), String::new()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, words)) = &mut open {
                    words.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((id, words)) = open.take() {
                    let id = unique(id.unwrap_or_else(|| id_of(&words)), &mut used);
                    found.push((id, range.end));
                }
            }
            _ => {}
        }
    }
    found
}

fn id_of(words: &str) -> String {
    let kept = words.trim().to_lowercase();
    let kept = kept.chars().filter_map(|c| match c {
        '_' | '-' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

fn unique(id: String, used: &mut BTreeSet<String>) -> String {
    let others = (1_u32..).map(|number| format!("{id}-{number}"));
    let mut names = std::iter::once(id.clone()).chain(others);
    names.find(|name| used.insert(name.clone())).unwrap_or(id)
}

fn link(lesson: &Lesson, page: &str, lang: Lang) -> String {
    let story = lesson.story.as_ref();
    let story = story.and_then(|story| Story::read(story).ok());
    let scene = match &story {
        Some(_) => ";scene=1",
        None => "",
    };
    let minutes = story.as_ref().map(|story| minutes(lang, story.minutes));
    let minutes = minutes.unwrap_or_default();
    let (before, after) = match (lang, minutes.is_empty()) {
        (Lang::En, true) => ("Lesson: ", minutes),
        (Lang::En, false) => ("Lesson: ", format!(" ({minutes})")),
        (Lang::Zh, true) => ("课程：", minutes),
        (Lang::Zh, false) => ("课程：", format!("（{minutes}）")),
    };
    let mut out = format!("<p class=\"deltascope-lesson\">{before}<a href=\"");
    text(&mut out, &format!("{page}#v1;lesson={}{scene}", lesson.id));
    out.push_str("\">");
    text(&mut out, lesson.title.get(lang));
    out.push_str(&format!("</a>{after}</p>"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_ids_that_mdbook_gives_them() {
        let text = "# One: two?\n\n```\n# no\n```\n\n## `draw` it {#draw}\n\n## 一次 Pop，全部 Delta\n\n## Two\n\n## Two\n";
        let ids: Vec<String> = headings(text).into_iter().map(|(id, _)| id).collect();
        assert_eq!(
            ids,
            ["one-two", "draw", "一次-pop全部-delta", "two", "two-1"]
        );
    }
}
