//! The files of the recordings: for each informer one, or several that follow each other.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use deltascope_presentation::cluster;
use deltascope_replay::recording::Recording;
use deltascope_replay::tap::call::{Call, Scope};
use deltascope_replay::tap::follow::Follower;
use deltascope_replay::tap::ledger::{self, Ledger};
use deltascope_replay::tap::note::Stopped;
use deltascope_replay::tap::record::{self, Recorder};
use deltascope_replay::trace::Trace;
use deltascope_world::virtual_time::RequestKind;
use deltascope_world::{Time, text};

use super::super::report::RecordingFile;
use super::super::{Failure, cannot_write};

/// The recordings, by their number from 1.
#[derive(Clone, Default)]
pub(super) struct Recordings(Arc<Mutex<Vec<One>>>);

/// Most files of one informer, unless more are asked for.
const MOST: usize = 100;

/// The files of one informer.
struct One {
    /// Those that there are, the newest last.
    parts: VecDeque<RecordingFile>,
    /// When the newest could not be written any more.
    unwritten: Option<Time>,
    /// Nothing says which lines of the log are its own: there are none any more.
    unheard: bool,
}

impl Recordings {
    fn with<T>(&self, number: usize, act: impl FnOnce(&mut One) -> Option<T>) -> Option<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(all.get_mut(number.checked_sub(1)?)?)
    }

    /// Adds one, and returns its number.
    pub(super) fn add(&self, path: PathBuf) -> usize {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = RecordingFile {
            number: 1,
            from: 0,
            path,
        };
        all.push(One {
            parts: [first].into(),
            unwritten: None,
            unheard: false,
        });
        all.len()
    }

    /// Goes on in another file. Returns those that are too many then: the oldest, until there are `keep`, or more that have no
    /// more bytes than `keep` long ones. A program that is started again and again begins a short one each time.
    pub(super) fn go_on(
        &self,
        number: usize,
        part: RecordingFile,
        keep: usize,
        long: usize,
    ) -> Vec<PathBuf> {
        let room = long.saturating_mul(keep) as u64;
        self.with(number, |one| {
            one.parts.push_back(part);
            let sizes = one.parts.iter().map(|part| fs::metadata(&part.path));
            let mut bytes: u64 = sizes.flatten().map(|file| file.len()).sum();
            let mut old = Vec::new();
            while one.parts.len() > keep.max(1) && (bytes > room || one.parts.len() > MOST) {
                let RecordingFile { path, .. } = one.parts.pop_front()?;
                bytes -= fs::metadata(&path).map_or(0, |file| file.len()).min(bytes);
                old.push(path);
            }
            Some(old)
        })
        .unwrap_or_default()
    }

    /// The files that there are of this number.
    pub(super) fn parts(&self, number: usize) -> Vec<RecordingFile> {
        let parts = self.with(number, |one| Some(one.parts.iter().cloned().collect()));
        parts.unwrap_or_default()
    }

    /// A file of this number; the newest, unless a part is named.
    pub(super) fn get(&self, number: usize, part: Option<u32>) -> Option<PathBuf> {
        self.with(number, |one| {
            let mut parts = one.parts.iter().rev();
            let found = parts.find(|is| part.is_none_or(|part| is.number == part));
            found.map(|part| part.path.clone())
        })
    }

    /// The newest file of this number cannot be written any more.
    pub(super) fn is_unwritten(&self, number: usize, at: Time) {
        self.with(number, |one| {
            one.unwritten = Some(at);
            Some(())
        });
    }

    /// Nothing says any more which lines of the log are this number's.
    pub(super) fn hears_no_more(&self, number: usize) {
        self.with(number, |one| {
            one.unheard = true;
            Some(())
        });
    }

    /// Whether it is so.
    pub(super) fn is_unheard(&self, number: usize) -> bool {
        self.with(number, |one| Some(one.unheard))
            .unwrap_or_default()
    }

    /// What a file would say at its end, if it could be written.
    pub(super) fn unsaid(&self, number: usize, part: Option<u32>) -> Option<String> {
        self.with(number, |one| {
            let newest = one.parts.back()?;
            let at = one.unwritten?;
            let is_newest = part.is_none_or(|part| part == newest.number);
            is_newest.then(|| record::stopped(at, Stopped::Unwritten))
        })
    }
}

/// Makes a folder for recordings, in which there are none yet.
pub(super) fn be_new(out: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot_write(out, &error);
    fs::create_dir_all(out).map_err(failed)?;
    for entry in fs::read_dir(out).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ends = |with: &str| path.extension().is_some_and(|ending| ending == with);
        // A log may be the controller's own, which is to be read.
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_numbered = matches!(name, [a, b, b'-' | b'0'..=b'9', ..] if a.is_ascii_digit() && b.is_ascii_digit());
        if ends("jsonl") || ends("log") && is_numbered {
            let (out, there) = (out.display(), path.display());
            return Err(Failure::of(text!(
                "{out} has recordings already ({there}): name a new folder.",
                "{out} 中已有录制（{there}）：请换一个新文件夹。"
            )));
        }
    }
    Ok(())
}

/// The name of the first file of a recording.
pub(super) fn first_name(number: usize, scope: &Scope) -> String {
    let place = scope.namespace.as_deref().unwrap_or("all");
    let name = format!("{}-{place}", scope.resource());
    let usual = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let name: String = name.chars().filter(|c| usual(*c)).take(100).collect();
    format!("{number:02}-{name}.jsonl")
}

/// Whether a file was removed, or its folder, since it was opened.
pub(super) fn is_gone(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|is| is.nlink() == 0)
    }
    // There, one that is open cannot be removed.
    #[cfg(not(unix))]
    {
        let _open = file;
        false
    }
}

/// What records an informer from this request on. Its head is made once the kind of its objects is known.
pub(super) fn recorder(of: &Ledger, call: &Call, long: usize) -> Recorder {
    let (scope, agent, start) = (of.scope.clone(), Arc::clone(&of.agent), of.start);
    let first = Follower::new(0, call).map(|(_, note)| note);
    let ledger = Ledger::of(first.iter());
    let how = ledger.lists.first().map(|list| &list.how);
    let (generation, _) = ledger::generation(&agent, how);
    let streams = call.want() == Some(RequestKind::Stream);
    let head = move |kind: &str| {
        let kind = if kind.is_empty() { &scope.plural } else { kind };
        let target = scope.target(kind);
        let options = cluster::Options {
            era: generation,
            ..cluster::Options::default()
        };
        let mut scenario = cluster::scenario(&target, &options, 0);
        // The controller's own pauses are in the times of its requests.
        scenario.settings.jitter = None;
        scenario.settings.watch_list = Some(streams);
        let title = cluster::title(&target);
        let client = agent.split(' ').next().unwrap_or_default();
        Trace {
            lesson: "".into(),
            title: text!(("{} · {client}", title.en), ("{} · {client}", title.zh)),
            at: None,
            start,
            recording: Recording::of(scenario),
        }
    };
    Recorder::new(call, of.informer(), Box::new(head), long)
}

#[cfg(test)]
mod tests {
    use super::super::Folder;
    use super::*;

    #[test]
    fn as_many_files_are_kept_as_asked_and_more_short_ones() {
        let folder = Folder::new().unwrap();
        for (bytes, kept) in [(0, MOST), (2, 15), (10, 3), (40, 3)] {
            let recordings = Recordings::default();
            let path = |part: usize| folder.0.join(format!("{bytes}-{part}"));
            fs::write(path(1), vec![b' '; bytes]).unwrap();
            let number = recordings.add(path(1));
            for part in 2..=200 {
                fs::write(path(part), vec![b' '; bytes]).unwrap();
                let part = RecordingFile {
                    number: part as u32,
                    from: 0,
                    path: path(part),
                };
                recordings.go_on(number, part, 3, 10);
            }
            let parts = recordings.parts(number);
            assert_eq!(parts.len(), kept, "{bytes}");
            assert_eq!(parts.last().unwrap().number, 200);
        }
    }
}
