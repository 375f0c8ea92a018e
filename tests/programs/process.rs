//! A process that a test starts, and what it prints.

#![allow(
    clippy::disallowed_methods,
    reason = "tests; a thread reads what a process prints"
)]

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A process that takes longer hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

/// A process that is killed when the test ends.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _code = self.0.wait();
    }
}

/// The lines of a stream, as they arrive.
pub(crate) fn lines_of(from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

pub(crate) fn start(command: &mut Command) -> (Running, Receiver<String>, Receiver<String>) {
    let mut child = command.spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    (Running(child), lines_of(out), lines_of(err))
}

/// What a process has printed, once it has ended.
pub(crate) fn output(command: &mut Command) -> Output {
    let (send, done) = channel();
    let child = command.spawn().unwrap();
    thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    done.recv_timeout(HANGS).expect("it hangs")
}
