//! The controller that the tap starts: its output, its exit code and its signals are its own.

use deltascope_world::text;
use std::ffi::OsString;
#[cfg(unix)]
use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
#[cfg(unix)]
use std::task::Poll;

use tokio::process::{Child, Command};

use deltascope_terminal::{self as terminal, Printed};

use super::super::Failure;
use super::log::{Output, Passing};
use super::teller::LogTeller;

/// Runs a program to its end, with this kubeconfig. What it prints is `told`, if somebody wants that. Returns its exit code; that
/// of a program that a signal has ended is as a shell has it.
pub(super) async fn run(
    program: &OsString,
    args: &[OsString],
    kubeconfig: &Path,
    signals: &mut Signals,
    told: Option<LogTeller>,
) -> Result<u8, Failure> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env("KUBECONFIG", kubeconfig)
        .kill_on_drop(true);
    // In a group of its own: then signals of the terminal reach it once, and so does what it starts itself (`go run`).
    #[cfg(unix)]
    command.process_group(0);
    // Who is not in the terminal's group must not read from it.
    if io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    if told.is_some() {
        terminal::piped(command.as_std_mut());
    }
    let mut child = command.spawn().map_err(|error| {
        let shown = program.to_string_lossy();
        Failure::of(text!(
            "Cannot start {shown}: {error}.",
            "无法启动 {shown}：{error}。"
        ))
    })?;
    let passing = told.map(|teller| Passing::new(printed(&mut child), &teller));
    let status = signals.hand_on(&mut child).await;
    if let Some(passing) = passing {
        // What reads it may stand still.
        tokio::select! {
            () = passing.end() => {}
            _sent = signals.next() => {}
        }
    }
    Ok(code(status.map_err(|error| cannot_wait(&error))?))
}

/// What a program prints, which is read here.
fn printed(child: &mut Child) -> Vec<(Printed, Output)> {
    let (out, err) = terminal::printed!(child);
    let out = out.map(|out| (Printed::Out, Box::new(out) as Output));
    let err = err.map(|err| (Printed::Err, Box::new(err) as Output));
    out.into_iter().chain(err).collect()
}

fn cannot_wait(error: &io::Error) -> Failure {
    Failure::of(text!(
        "The command's end cannot be waited for: {error}.",
        "无法等待命令结束：{error}。"
    ))
}

fn cannot_listen(error: &io::Error) -> Failure {
    Failure::of(text!(
        "The system does not tell of its signals: {error}.",
        "系统不告知信号：{error}。"
    ))
}

/// A signal that has come.
#[derive(Clone, Copy)]
pub(super) struct Sent(#[cfg(unix)] rustix::process::Signal);

impl Sent {
    /// The exit code of a program that it has ended, as a shell has it.
    pub(super) fn code(self) -> u8 {
        #[cfg(unix)]
        let signal = self.0.as_raw();
        #[cfg(not(unix))]
        let signal = 2;
        u8::try_from(128 + signal).unwrap_or(u8::MAX)
    }
}

/// The signals that would end the tap. From here on they do not: what the tap has started must not outlive it.
#[cfg(unix)]
pub(super) struct Signals(Vec<(Sent, tokio::signal::unix::Signal)>);

#[cfg(unix)]
impl Signals {
    /// With a command, also those that mean something to a program alone.
    pub(super) fn new(command: bool) -> Result<Self, Failure> {
        use rustix::process::Signal;
        use tokio::signal::unix::{SignalKind, signal};

        let all = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];
        let own = [Signal::USR1, Signal::USR2];
        let wanted = all.into_iter().chain(own.into_iter().filter(|_| command));
        let signals = wanted.map(|sent| {
            let coming = signal(SignalKind::from_raw(sent.as_raw()))?;
            Ok((Sent(sent), coming))
        });
        let signals: io::Result<_> = signals.collect();
        signals.map(Self).map_err(|error| cannot_listen(&error))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Sent {
        poll_fn(|cx| {
            for (sent, coming) in &mut self.0 {
                if coming.poll_recv(cx).is_ready() {
                    return Poll::Ready(*sent);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Waits for the end of the program, and hands them on.
    async fn hand_on(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        use rustix::process::{Pid, kill_process_group};

        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        loop {
            let sent = tokio::select! {
                status = child.wait() => return status,
                sent = self.next() => sent,
            };
            if let Some(group) = group {
                // It may have ended meanwhile.
                let _ended = kill_process_group(group, sent.0);
            }
        }
    }
}

/// The system sends Ctrl-C to the program as well.
#[cfg(not(unix))]
pub(super) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new(_: bool) -> Result<Self, Failure> {
        let signal = tokio::signal::windows::ctrl_c();
        signal.map(Self).map_err(|error| cannot_listen(&error))
    }

    pub(super) async fn next(&mut self) -> Sent {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        Sent()
    }

    async fn hand_on(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = child.wait() => return status,
                _ = self.next() => {}
            }
        }
    }
}

fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    let code = status.code().unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
