//! Where the recordings go: into memory, until a watch shows that they are an informer's, and then into files.

use std::fs::File;
use std::io::{self, Write as _};

use deltascope_replay::tap::call::Call;
use deltascope_replay::tap::next::{Next, Turn};
use deltascope_replay::tap::note::{Note, Stopped};
use deltascope_replay::tap::state::State;
use deltascope_world::bounds::MAX_BYTES;
use deltascope_world::{Time, text};

use super::super::super::report::{self, RecordingFile, file_name, log_of};
use super::super::super::{cannot_write, note};
use super::super::private;
use super::super::recordings::{first_name, is_gone, recorder};
use super::{HELD, To, Track, Watcher};

impl Watcher {
    pub(super) fn held(&self) -> usize {
        let held = self.tracks.values().map(|track| match &track.to {
            To::Held(text) => text.len(),
            To::File(_) | To::TooMuch | To::Nowhere => 0,
        });
        held.sum()
    }

    /// It is an informer: its recording goes into a file.
    pub(super) fn confirm(&mut self, track: usize) {
        let (Some(out), Some(one)) = (&self.options.out, self.tracks.get_mut(&track)) else {
            return;
        };
        let held = match &one.to {
            To::Held(held) => held,
            To::TooMuch => {
                one.to = To::Nowhere;
                let of = one.ledger.scope.title();
                let said = text!(
                    "{of} is not recorded: too many lists waited for a watch. It is still counted.",
                    "{of} 未录制：等待 watch 的列表过多。统计仍在继续。"
                );
                return note(said.get(self.options.lang));
            }
            To::File(_) | To::Nowhere => return,
        };
        if held.is_empty() && one.recorder.is_none() {
            return;
        }
        self.files += 1;
        let path = out.join(first_name(self.files, &one.ledger.scope));
        let file =
            private(&path).and_then(|mut file| file.write_all(held.as_bytes()).map(|()| file));
        match file {
            Ok(file) => {
                one.to = To::File(file);
                one.recording = self.options.recordings.add(path);
                self.say_stopped(track);
            }
            Err(error) => {
                note(cannot_write(&path, &error).text.get(self.options.lang));
                one.to = To::Nowhere;
                one.recorder = None;
            }
        }
    }

    pub(super) fn write(&mut self, track: usize, text: &str) {
        let full = self.held() + text.len() > HELD;
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let written = match &mut one.to {
            To::Held(_) if full => {
                one.to = To::TooMuch;
                one.recorder = None;
                Ok(())
            }
            To::Held(held) => {
                held.push_str(text);
                Ok(())
            }
            To::File(file) => file.write_all(text.as_bytes()),
            To::TooMuch | To::Nowhere => Ok(()),
        };
        if let Err(error) = written {
            self.unwritten(track, &error);
        }
    }

    /// The file of a recording cannot be written, or is gone. There is no place for a note in it.
    pub(super) fn unwritten(&mut self, track: usize, error: &io::Error) {
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let (recordings, number) = (&self.options.recordings, one.recording);
        let failed = cannot_write(&recordings.get(number, None).unwrap_or_default(), error);
        note(failed.text.get(self.options.lang));
        one.to = To::Nowhere;
        one.recorder = None;
        let (at, why) = (one.ledger.until, Stopped::Unwritten);
        one.ledger.note(&Note::Stopped { at, why });
        recordings.is_unwritten(number, at);
    }

    /// Looks whether the files are still where they were: one that is removed takes what is written all the same.
    pub(super) fn look_for_files(&mut self) {
        let gone = |track: &Track| match &track.to {
            To::File(file) if track.recorder.is_some() => is_gone(file),
            _ => false,
        };
        let gone = self.tracks.iter().filter(|(_, one)| gone(one));
        for track in gone.map(|(track, _)| *track).collect::<Vec<_>>() {
            self.unwritten(track, &io::ErrorKind::NotFound.into());
        }
    }

    /// Goes on in another file, if it is time to: before a list that begins, or behind what has come.
    pub(super) fn go_on(&mut self, track: usize, at: Time, list: Option<&Call>) {
        let recordings = self.options.recordings.clone();
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let next = Next::of(&one.ledger, one.recorder.as_ref(), one.resumes, list);
        let number = one.recording;
        let Some(last) = recordings
            .parts(number)
            .pop()
            .filter(|_| next != Next::Same)
        else {
            return;
        };
        let part = last.number + 1;
        let list = list.map(|call| recorder(&one.ledger, call, self.options.rotate));
        let (ledger, recorder) = (&one.ledger, &mut one.recorder);
        let state = || File::open(&last.path).and_then(State::read);
        let turn = match Turn::to(next, (at, part), ledger, recorder, list, state) {
            Ok(turn) => turn,
            Err(error) => return self.unwritten(track, &error),
        };
        self.write(track, &turn.end);
        let Some(begin) = turn.begin else {
            return self.stop(track, at, Stopped::Full);
        };
        let one = self.tracks.get_mut(&track);
        let Some(one) = one.filter(|one| one.recorder.is_some()) else {
            return;
        };
        (one.ledger.stopped, one.resumes) = (None, false);
        let path = last.path.with_file_name(file_name(&last.path, part));
        let file =
            private(&path).and_then(|mut file| file.write_all(begin.as_bytes()).map(|()| file));
        match file {
            Ok(file) => one.to = To::File(file),
            Err(error) => return self.unwritten(track, &error),
        }
        one.lines.go_on();
        let part = RecordingFile {
            number: part,
            from: at,
            path,
        };
        let (keep, long) = (self.options.keep, self.options.rotate.min(MAX_BYTES / 2));
        for old in recordings.go_on(number, part, keep, long) {
            // Somebody else may have removed them.
            for old in [log_of(&old), old] {
                let _gone = std::fs::remove_file(old);
            }
        }
    }

    /// The recording does not go on.
    pub(super) fn stop(&mut self, track: usize, at: Time, why: Stopped) {
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let recorder = one.recorder.take();
        one.resumes = recorder.is_some_and(|recorder| recorder.may_resume());
        one.ledger.note(&Note::Stopped { at, why });
        self.say_stopped(track);
    }

    /// Says that a recording does not go on, once it is in a file. Of one that is not kept, the page says so.
    pub(super) fn say_stopped(&self, track: usize) {
        if let Some(one) = self.tracks.get(&track)
            && self.options.kept
            && one.recording > 0
            && let Some(said) = report::stopped(&one.ledger)
        {
            note(said.get(self.options.lang));
        }
    }
}

#[cfg(test)]
mod tests {
    use deltascope_replay::tap::follow::Over;
    use deltascope_replay::tap::note;

    use super::super::Client;
    use super::super::tests::watcher;
    use super::*;

    /// A list of so many objects of 7 MB each; then a watch, if it is one.
    fn list(
        watcher: &mut Watcher,
        client: &Client,
        id: u64,
        (objects, version): (usize, &str),
        watches: bool,
    ) {
        let wanted = format!("api/v1/pods?resourceVersion={version}");
        watcher.ask(client, id, &wanted, 200);
        let long = "x".repeat(7 << 20);
        let object = |number| {
            format!(
                "{{\"metadata\":{{\"name\":\"{number}\",\"resourceVersion\":\"1\"}},\"spec\":\"{long}\"}}"
            )
        };
        let begin = "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[";
        watcher.come(id, id, begin);
        for number in 0..objects {
            let comma = if number > 0 { "," } else { "" };
            watcher.come(id, id, format!("{comma}{}", object(number)));
        }
        watcher.come(id, id, "]}");
        watcher.end(id, Over::Complete);
        if watches {
            let wanted = "api/v1/pods?watch=1&resourceVersion=1";
            watcher.ask(client, id + 1, wanted, 200);
            watcher.end(id + 1, Over::HungUp);
        }
    }

    #[test]
    fn a_large_informer_is_recorded_again_from_its_next_list_on() {
        // What is there and its next list do not fit into a file; and what is there alone does not.
        for (objects, parts, why) in [(6, 3, Stopped::Next), (8, 2, Stopped::Full)] {
            let (mut watcher, client) = watcher();
            let name = format!("deltascope-large-{objects}-{}", std::process::id());
            let out = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&out).unwrap();
            (watcher.options.out, watcher.options.keep) = (Some(out.clone()), 9);
            list(&mut watcher, &client, 10, (objects, ""), true);
            let stopped = |watcher: &mut Watcher| watcher.observed().informers[0].ledger.stopped;
            let is_full = matches!(stopped(&mut watcher), Some((_, Stopped::Full)));
            assert_eq!(is_full, why == Stopped::Full);
            list(&mut watcher, &client, 20, (objects, ""), false);
            assert_eq!(stopped(&mut watcher), None);
            let files = watcher.options.recordings.parts(1);
            assert_eq!(files.len(), parts);
            // The last begins with that list, and says so; the one before says why it ends.
            let notes = |part: &RecordingFile| note::read(&std::fs::read(&part.path).unwrap());
            let number = u32::try_from(parts).unwrap();
            let anew = Note::GoesOn {
                at: 10,
                part: number,
                anew: true,
            };
            assert_eq!(notes(&files[parts - 1])[0], anew);
            let end = notes(&files[parts - 2]).pop();
            assert!(
                matches!(&end, Some(Note::Stopped { why: is, .. }) if *is == why),
                "{end:?}"
            );
            let state = State::read(File::open(&files[parts - 1].path).unwrap()).unwrap();
            assert_eq!(state.len(), objects);
            std::fs::remove_dir_all(&out).unwrap();
        }
    }

    #[test]
    fn a_program_that_is_started_again_begins_another_file() {
        for (agent, version, parts) in [
            ("m kubernetes/1", "0", 2),
            ("m kubernetes/1", "1", 1),
            ("m", "0", 1),
        ] {
            let (mut watcher, mut client) = watcher();
            client.agent = agent.into();
            let name = format!("deltascope-again-{}-{parts}", std::process::id());
            let out = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&out).unwrap();
            (watcher.options.out, watcher.options.keep) = (Some(out.clone()), 9);
            list(&mut watcher, &client, 10, (1, "0"), true);
            list(&mut watcher, &client, 20, (1, version), true);
            let files = watcher.options.recordings.parts(1);
            assert_eq!(files.len(), parts, "{agent} {version}");
            if let [first, again] = &*files {
                let [end, begins] = [first, again].map(|part| {
                    let notes = note::read(&std::fs::read(&part.path).unwrap());
                    (notes.first().cloned(), notes.last().cloned())
                });
                let stopped = Note::Stopped {
                    at: 10,
                    why: Stopped::Next,
                };
                let anew = Note::GoesOn {
                    at: 10,
                    part: 2,
                    anew: true,
                };
                assert_eq!((end.1, begins.0), (Some(stopped), Some(anew)));
            }
            std::fs::remove_dir_all(&out).unwrap();
        }
    }
}
