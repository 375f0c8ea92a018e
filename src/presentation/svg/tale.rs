//! The panel of a story on the poster of an element that tells one: its words, its question or its goal, its buttons.

use super::colors::Ink;
use super::parts::STRONG;
use super::pen::{Area, At, Pen, Type, area, count, measure, sans, wrap};
use crate::rows::acting;
use crate::stage::Panel;
use crate::story::words::{Piece, pieces};
use crate::story::{Answer, Form};
use crate::strings::{self, story as said};
use crate::view::story::StoryView;

/// The heights of the panel, with its upper border, where the words are beside the question, and where they are
/// above it.
const HIGH: [i32; 2] = [180, 216];
/// The narrowest element with the words beside the question, and the widest whose buttons are below both.
const BESIDE: i32 = 900;
const STACKED: i32 = 640;
/// The width of the buttons beside the words.
const TURN: i32 = 152;
/// The most that the words take where nothing is asked beside them.
const WIDEST: i32 = 1056;
/// The gaps between the columns and between what is below each other.
const GAPS: (i32, i32) = (20, 10);
/// The heights of an answer and of a button that goes on.
const ANSWER: i32 = 34;
const BUTTON: i32 = 44;

/// Where the rooms are on the way, with the one that is shown in sight.
pub(super) fn map(pen: &mut Pen, a: Area, rooms: &[Panel], shown: Panel) {
    let Some(story) = &pen.view.story else { return };
    let lang = pen.options.lang;
    pen.room("map", a);
    pen.line(a.x, a.bottom() - 1, a.w, 0, Ink::LINE, "");
    let stops = rooms
        .iter()
        .filter(|room| **room != Panel::Now || shown == Panel::Now);
    let stops = stops.map(|room| {
        let name = match room {
            Panel::Api => strings::source(lang, pen.view.picture.api.source),
            room => strings::room(lang, *room),
        };
        let is_lit = story.lit.contains(room);
        let ink = if is_lit || *room == shown {
            Ink::INK
        } else {
            Ink::INK_2
        };
        let of = sans(if a.w <= 384 { 110 } else { 120 }, ink).bold_if(*room == shown);
        (name, of, is_lit, *room == shown)
    });
    let stops: Vec<_> = stops.collect();
    let wide: i32 = stops.iter().map(|(name, of, ..)| measure(name, *of)).sum();
    let arrow = 11;
    let between = count(stops.len().saturating_sub(1)) * arrow;
    let spare = (a.w - 8 - wide - between).max(0) / count(stops.len()).max(1);
    let mut x = a.x + 4;
    for (place, (name, of, is_lit, is_shown)) in stops.iter().enumerate() {
        if place > 0 {
            pen.text(x, a.middle(), arrow, At::Start, "→", sans(110, Ink::INK_3));
            x += arrow;
        }
        let w = measure(name, *of) + spare;
        if x + w > a.right() {
            break;
        }
        if *is_shown {
            pen.rect(area(x, a.y, w, a.h - 1), 0, Ink::GLOW, Ink::NONE, "");
        }
        pen.text(x + w / 2, a.middle(), w, At::Middle, name, *of);
        if *is_lit {
            pen.rect(
                area(x, a.bottom() - 4, w, 3),
                0,
                Ink::GLOW_LINE,
                Ink::NONE,
                "",
            );
        }
        x += w;
    }
}

/// The height of the panel in an element of this size.
pub(super) fn high(pen: &mut Pen, w: i32, h: i32, narrow: bool) -> i32 {
    if !narrow {
        return match w {
            BESIDE.. => HIGH[0],
            ..=STACKED => h * 54 / 100,
            _ => HIGH[1],
        };
    }
    // It is as high as what is in it, up to half of the element.
    let needed = pen.measured(|pen| tale(pen, area(0, 0, w, 4_000), true));
    needed.min(h / 2)
}

/// Draws the panel. Returns the height that it needs.
pub(super) fn tale(pen: &mut Pen, a: Area, narrow: bool) -> i32 {
    let Some(story) = pen.view.story.clone() else {
        return 0;
    };
    pen.room("tale", a);
    pen.raw(&["<g data-part=\"tale\">"]);
    pen.rect(a, 0, Ink::CARD, Ink::NONE, "");
    pen.line(a.x, a.y, a.w, 0, Ink::LINE, "");
    let stacked = narrow || a.w <= STACKED;
    let (top, beside) = (if narrow { 13 } else { 11 }, 16);
    let bar = 8 + BUTTON + if narrow { 12 } else { 10 };
    let inner = a.inset(beside, top);
    let room = match stacked {
        true => area(inner.x, inner.y, inner.w, a.bottom() - bar - inner.y),
        false => area(inner.x, inner.y, inner.w - TURN - GAPS.0, inner.h),
    };
    pen.floor = room.bottom();
    let mut y = room.y;
    let asks = story.asked.is_some() || story.goal.is_some();
    if a.w >= BESIDE && !narrow && !asks {
        y = say(
            pen,
            area(room.x, room.y, room.w.min(WIDEST), room.h),
            &story,
        );
    } else if a.w >= BESIDE && !narrow {
        let left = (room.w - GAPS.0) * 115 / 215;
        let ask = area(
            room.x + left + GAPS.0,
            room.y,
            room.w - left - GAPS.0,
            room.h,
        );
        y = say(pen, area(room.x, room.y, left, room.h), &story);
        y = y.max(asked(pen, ask, &story));
    } else {
        y = say(pen, room.below(y), &story);
        if asks {
            y = asked(pen, room.below(y + GAPS.1), &story);
        }
    }
    pen.floor = 0;
    let turn = match stacked {
        true => area(inner.x, a.bottom() - bar + 8, inner.w, BUTTON),
        false => area(inner.right() - TURN, inner.y, TURN, inner.h),
    };
    self::turn(pen, turn, &story, stacked);
    pen.raw(&["</g>"]);
    y + GAPS.1 + bar - a.y
}

/// What a text says, with its marks.
fn typed(text: &str, of: Type) -> Vec<(&str, Type)> {
    let pieces = pieces(text).into_iter();
    let typed = pieces.map(|piece| match piece {
        Piece::Plain(text) | Piece::Emphasis(text) => (text, of),
        Piece::Term(text) => (text, of.bold()),
        Piece::Code(text) => (text, of.code()),
    });
    typed.collect()
}

/// A text, as many lines of it as there is room for. Returns its bottom edge.
fn text(pen: &mut Pen, a: Area, text: &str, of: Type, line: i32) -> i32 {
    let lines = wrap(&typed(text, of), a.w);
    let fit = ((pen.floor + 3 - a.y) / line).max(0) as usize;
    pen.lines(a, line, At::Start, &lines, fit.min(lines.len()));
    a.y + count(lines.len()) * line
}

/// The scene's words, below the title and the scene's number.
fn say(pen: &mut Pen, a: Area, story: &StoryView) -> i32 {
    let lang = pen.options.lang;
    let (at, of, quiz) = match story.question {
        Some((at, of)) => (at, of, true),
        None => (story.index + 1, story.of, false),
    };
    let small = sans(135, Ink::INK_2);
    let number = said::scene(lang, at, of, quiz);
    let w = pen.text(a.right(), a.y + 8, a.w, At::End, &number, small);
    let title = pen.view.lesson.title.get(lang);
    let to = area(a.x, a.y, a.w - w - 16, a.h);
    let title = pen.para(to, 16, 2, title, small.bold());
    text(
        pen,
        a.below(a.y + title + 8),
        story.say.get(lang),
        sans(170, Ink::INK),
        24,
    )
}

/// Its question with the answers, or its goal. Returns the bottom edge.
fn asked(pen: &mut Pen, a: Area, story: &StoryView) -> i32 {
    let (lang, words) = (pen.options.lang, pen.words);
    let bold = sans(160, Ink::INK).bold();
    let to = area(a.x + 21, a.y, a.w - 21, a.h);
    let mut answers: Vec<(String, bool)> = Vec::new();
    let mut y = to.y;
    if let Some(asked) = &story.asked {
        y = text(pen, to, asked.text.get(lang), bold, 22);
        match asked.form {
            Form::Number => answers.extend([
                ("?".to_owned(), true),
                (words.story_answer.to_owned(), true),
            ]),
            Form::Choice | Form::Place => {
                let all = asked.answers.iter();
                answers.extend(all.map(|one| (said::answer(lang, &asked.choices, one), true)));
            }
            Form::Order => {
                let all = (0..asked.choices.len()).map(Answer::Choice);
                answers.extend(all.map(|one| (said::answer(lang, &asked.choices, &one), true)));
                answers.push((words.story_order.to_owned(), false));
            }
        }
        answers.push((words.story_show.to_owned(), false));
    } else if let Some(goal) = &story.goal {
        pen.text(to.x, to.y + 11, 20, At::Start, "◎", bold);
        y = text(
            pen,
            area(to.x + 24, to.y, to.w - 24, to.h),
            goal.text.get(lang),
            bold,
            22,
        );
        let hint = goal.more_hints.then(|| (words.story_hint.to_owned(), true));
        answers.extend(hint);
        answers.push((words.story_again.to_owned(), true));
    }
    y += 10;
    let mut x = to.x;
    for (label, is_button) in &answers {
        let of = sans(
            if *is_button { 160 } else { 140 },
            if *is_button { Ink::INK } else { Ink::INK_2 },
        );
        let w = (measure(label, of) + if *is_button { 30 } else { 8 }).min(to.w);
        if x > to.x && x + w > to.right() {
            (x, y) = (to.x, y + ANSWER + 8);
        }
        if !pen.is_below(y + ANSWER) {
            let at = area(x, y, w, ANSWER);
            if *is_button {
                pen.rect(area(x, y, w - 1, ANSWER - 1), 7, Ink::CARD, Ink::LINE, "");
            }
            pen.text(at.x + w / 2, at.middle(), w, At::Middle, label, of);
        }
        x += w + 8;
    }
    y += ANSWER;
    pen.rect(
        area(a.x, a.y, 3, y.min(pen.floor) - a.y),
        0,
        Ink::GLOW_LINE,
        Ink::NONE,
        "",
    );
    y
}

/// The buttons: below each other beside the words, or in a row below them.
fn turn(pen: &mut Pen, a: Area, story: &StoryView, in_row: bool) {
    let words = pen.words;
    let asks = story
        .asked
        .as_ref()
        .is_some_and(|asked| asked.given.is_none());
    let on = match (story.has_next, asks) {
        (false, _) => words.story_run,
        (true, true) => words.story_pass,
        (true, false) => words.story_next,
    };
    // Beside a question, and before one has acted, the way on is not what one is asked to do.
    let goal = story.goal.as_ref();
    let goes = !asks && goal.is_none_or(|goal| goal.acted || goal.reached);
    let more = (!story.has_next).then_some((said::more(pen.options.lang, story), false));
    let mut buttons = vec![(words.story_back, false), (on, goes)];
    buttons.extend(more);
    buttons.push((words.story_closer, false));
    if !in_row {
        buttons.swap(0, 1);
    }
    let all = count(buttons.len());
    let of = sans(if in_row && asks || all > 3 { 130 } else { 150 }, Ink::INK);
    let wide: i32 = buttons
        .iter()
        .map(|(label, _)| measure(label, of) + 6)
        .sum();
    let spare = (a.w + 6 - wide).max(0) / all;
    let mut at = area(a.x - 6, a.y, 0, BUTTON);
    for (place, (label, is_go)) in (1..).zip(buttons) {
        let of = of.ink(if is_go { Ink::PAPER } else { Ink::INK });
        match (in_row, place) {
            (true, _) => at = area(at.right() + 6, a.y, measure(label, of) + spare, BUTTON),
            (false, 1) => at = area(a.x, a.y, a.w, BUTTON),
            (false, place) if place == all => at = area(a.x, a.bottom() - 32, a.w, 32),
            (false, _) => at = area(a.x, at.bottom() + 6, a.w, 32),
        }
        let (ground, border) = if is_go {
            (Ink::INK, Ink::INK)
        } else {
            (Ink::CARD, Ink::LINE)
        };
        pen.rect(
            area(at.x, at.y, at.w - 1, at.h - 1),
            7,
            ground,
            border,
            STRONG,
        );
        let of = of.bold_if(is_go);
        pen.text(
            at.x + at.w / 2,
            at.middle(),
            at.w - 2,
            At::Middle,
            label,
            of,
        );
    }
}

/// The room that is shown where one is shown at a time.
pub(super) fn shown(story: &StoryView, pen: &Pen, rooms: &[Panel]) -> Panel {
    let acting = crate::rows::current(pen.view).map(acting::room);
    let focus = story.focus(acting);
    match rooms.contains(&focus) {
        true => focus,
        false => acting::shown(pen.view, rooms),
    }
}
