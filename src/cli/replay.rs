//! `deltascope replay`: describes in words what the informer does with a recording.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use deltascope_presentation::command::Command;
use deltascope_presentation::session::Session;
use deltascope_presentation::session::transcript::{Excerpt, Until};
use deltascope_replay::predicate::Predicate;
use deltascope_replay::smallest::Goal;
use deltascope_replay::{tap, trace};
use deltascope_terminal::{Form, Out};
use deltascope_world::source::wire::MAX_BYTES;
use deltascope_world::text::{Lang, Text};
use deltascope_world::{in_lang, text};

use super::args::{Last, Replay};
use super::{Exit, Failure, cannot_print, cannot_read, note, print, put};

/// How much of an endless run is described, in virtual ms.
const ENDLESS_MS: u64 = 60_000;

/// Describes the run, then reports what could not be read.
pub(super) fn run(options: &Replay, lang: Lang) -> Result<(), Failure> {
    let until = match &options.until {
        Some(text) => until(text)?,
        None => Until::End,
    };
    let mut files = Vec::new();
    for path in &options.files {
        files.push(read(path)?);
    }
    let goes_on = files.iter().any(|(_, bytes)| tap::note::goes_on(bytes));
    let (binary, cut) = (
        files.iter().find_map(binary),
        match &*files {
            [(name, bytes)] => cut_off(name, bytes),
            _ => None,
        },
    );
    let mut session = Session::new();
    let before = session.view().lesson;
    session.obey(Command::Open(files));
    let view = session.view();
    let error = view.error.map(|error| error.message);
    if Rc::ptr_eq(&before, &view.lesson) {
        return Err(Failure::of(binary.or(error).unwrap_or_default()));
    }
    // Reported last, after the part that could be read.
    let unread = || match (error, cut) {
        (None, _) => Ok(()),
        // Whoever wrote it was stopped: there is no more.
        (Some(_), Some(cut)) => {
            note(cut.get(lang));
            Ok(())
        }
        (Some(error), None) => Err(Failure::of(error)),
    };
    if let Some(generation) = options.era {
        session.obey(Command::Generation(generation));
        if let Some(error) = session.view().error {
            return Err(Failure::of(error.message));
        }
    }
    if options.smallest {
        smallest(&session, options, until, lang)?;
        return unread();
    }
    let mut end = session.go_until(&until).map_err(Failure::of)?;
    if end == 0 && view.endless && until == Until::End {
        end = session
            .go_until(&Until::Time(ENDLESS_MS))
            .map_err(Failure::of)?;
        let seconds = ENDLESS_MS / 1_000;
        note(&in_lang!(
            lang,
            "This run has no end: only its first {seconds} s are printed. --until chooses another end.",
            "此运行没有终点：只讲述前 {seconds} 秒。用 --until 指定别处。"
        ));
    }
    if let Some(log) = &options.heard {
        heard(&session, log, goes_on, end, lang)?;
        return unread();
    }
    let excerpt = excerpt(&session, options, end, lang)?;
    match &options.export {
        Some(path) => {
            let (key, part) = (excerpt.key, excerpt.from..excerpt.to);
            let text = session.excerpt(key, part).map_err(Failure::of)?;
            put(Form::Json, Some(path), &text)?;
        }
        None => transcribe(&session, &excerpt)?,
    }
    unread()
}

/// Says that a file is no text, if it is none.
fn binary((name, bytes): &(String, Vec<u8>)) -> Option<Text> {
    let begin = bytes.get(..1_024).unwrap_or(bytes);
    begin.contains(&0).then(|| {
        let file = deltascope_terminal::word(name);
        text!(
            "{name} is not text. A recording is text as UTF-8; one that is compressed can be read so: gunzip -c {file} | deltascope replay -",
            "{name} 不是文本。录制是 UTF-8 文本；压缩过的可以这样读取：gunzip -c {file} | deltascope replay -"
        )
    })
}

/// Says where a trace ends in the middle of its last line, if only that cannot be read.
pub(super) fn cut_off(name: &str, bytes: &[u8]) -> Option<Text> {
    let line = trace::cut_off(name, bytes)?;
    Some(text!(
        "{name} is cut off in line {line}: everything before it is printed.",
        "{name} 在第 {line} 行处中断：之前的内容都已讲述。"
    ))
}

/// Cuts the run down, and says what is left of it.
fn smallest(session: &Session, options: &Replay, until: Until, lang: Lang) -> Result<(), Failure> {
    let Until::Condition(predicate) = until else {
        return Err(Failure::usage(Text::new(
            "--smallest needs a condition in --until, such as 'tombstone key=default/web'.",
            "--smallest 需要 --until 给出条件，如 'tombstone key=default/web'。",
        )));
    };
    let found = session.smallest(Goal::Condition(predicate), options.real_names);
    let found = found.map_err(Failure::of)?;
    let words = found.words.get(lang);
    let link = found.link.as_deref();
    let link = match (link, lang) {
        (Some(link), Lang::En) => format!("As a link, behind the page's address: {link}"),
        (Some(link), Lang::Zh) => format!("链接，接在页面地址之后：{link}"),
        (None, Lang::En) => "A link cannot carry it; --export writes it to a file.".to_owned(),
        (None, Lang::Zh) => "链接装不下；请用 --export 写入文件。".to_owned(),
    };
    match &options.export {
        Some(path) => {
            put(Form::Json, Some(path), &found.trace)?;
            note(words);
            note(&link);
            Ok(())
        }
        None => print(Form::Words, &format!("{words}\n{link}\n")),
    }
}

/// Compares a controller's log with the run up to its end, and says the first difference.
fn heard(
    session: &Session,
    log: &Path,
    goes_on: bool,
    end: usize,
    lang: Lang,
) -> Result<(), Failure> {
    let (name, bytes) = read(log)?;
    let heard = session
        .heard(&name, &bytes, goes_on, end)
        .map_err(Failure::of)?;
    print(Form::Words, heard.words.get(lang))?;
    if heard.differs {
        return Err(Failure::new(
            "The log differs from the calls that the handler should have got.",
            "日志与 handler 应当收到的通知不同。",
        )
        .with(Exit::Differs));
    }
    Ok(())
}

/// The part of the run that the options ask for.
fn excerpt<'a>(
    session: &Session,
    options: &'a Replay,
    end: usize,
    lang: Lang,
) -> Result<Excerpt<'a>, Failure> {
    let key = options.key.as_deref();
    let places = key.map(|key| session.places(key, 0..end));
    if let (Some(key), Some([])) = (key, places.as_deref()) {
        return Err(Failure::of(text!(
            "Nothing of the run is about {key}. Write the key with its namespace, such as default/web; without --key everything is printed.",
            "运行中没有与 {key} 有关的内容。请写出带命名空间的 key，如 default/web；不带 --key 时会讲述所有 key。"
        )));
    }
    let from = match (options.last, places) {
        (None, _) => 0,
        (Some(Last::Ms(ms)), _) => session.last_ms(end, ms),
        (Some(Last::Facts(count)), None) => end.saturating_sub(count),
        (Some(Last::Facts(0)), Some(_)) => end,
        (Some(Last::Facts(count)), Some(places)) => {
            let first = places.len().saturating_sub(count);
            places.get(first).copied().unwrap_or(end)
        }
    };
    Ok(Excerpt {
        from,
        to: end,
        key,
        lang,
        json: options.json,
    })
}

fn transcribe(session: &Session, excerpt: &Excerpt) -> Result<(), Failure> {
    let mut out = Out::new(if excerpt.json {
        Form::Json
    } else {
        Form::Words
    });
    let mut written = Ok(true);
    session.transcribe(excerpt, &mut |part| {
        written = out.write(part);
        match written {
            Ok(true) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    if written.map_err(|error| cannot_print(&error))? {
        out.flush().map_err(|error| cannot_print(&error))?;
    }
    Ok(())
}

/// The name and content of a file or of stdin. It reads one byte more than allowed, so that the parser sees that
/// there is too much.
pub(super) fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    let (name, read) = if path.as_os_str() == "-" {
        let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
        ("stdin".to_owned(), read)
    } else {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
        (name.to_string_lossy().into_owned(), read)
    };
    match read {
        Ok(_) => Ok((name, bytes)),
        Err(_) if path.is_dir() => Err(Failure::of(text!(
            "{name} is a folder: name a file in it. `deltascope report` takes all of them.",
            "{name} 是文件夹：请指定其中的文件。`deltascope report` 可以接受整个文件夹。"
        ))),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

/// Parses a time such as `1500ms`, `12s` or `2m`, or a condition.
fn until(text: &str) -> Result<Until, Failure> {
    if let Some(ms) = super::args::duration_ms(text) {
        return Ok(Until::Time(ms));
    }
    match text.parse::<Predicate>() {
        Ok(predicate) => Ok(Until::Condition(predicate)),
        Err(error) => {
            let Text { en, zh } = error.words();
            Err(Failure::usage(text!(
                "--until: {en} Or give a time, such as 1500ms, 12s or 2m.",
                "--until：{zh}也可以给出时间，如 1500ms、12s 或 2m。"
            )))
        }
    }
}
