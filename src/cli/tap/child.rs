//! The controller that the tap starts: its output, its exit code and its signals are its own.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::process::{Child, Command};

use super::super::Failure;

/// Runs a program to its end, with this kubeconfig. Returns its exit code; that of a program that a signal has
/// ended is as a shell has it.
pub(super) async fn run(
    program: &OsString,
    args: &[OsString],
    kubeconfig: &Path,
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
    // From here on they do not end the tap.
    let mut signals = Signals::new().map_err(|error| cannot_wait(&error))?;
    let mut child = command.spawn().map_err(|error| {
        let shown = program.to_string_lossy();
        Failure::new(
            &format!("Cannot start {shown}: {error}."),
            &format!("无法启动 {shown}：{error}。"),
        )
    })?;
    let status = signals.hand_on(&mut child).await;
    Ok(code(status.map_err(|error| cannot_wait(&error))?))
}

fn cannot_wait(error: &io::Error) -> Failure {
    Failure::new(
        &format!("The command's end cannot be waited for: {error}."),
        &format!("无法等待命令结束：{error}。"),
    )
}

/// The signals that ask the tap to end, which are the program's instead.
#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the end of the program, and hands them on.
    async fn hand_on(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process_group};

        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let [interrupt, terminate, hangup] = &mut self.0;
        loop {
            let sent = tokio::select! {
                status = child.wait() => return status,
                _ = interrupt.recv() => Signal::INT,
                _ = terminate.recv() => Signal::TERM,
                _ = hangup.recv() => Signal::HUP,
            };
            if let Some(group) = group {
                // It may have ended meanwhile.
                let _ended = kill_process_group(group, sent);
            }
        }
    }
}

/// The system sends Ctrl-C to the program as well.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn hand_on(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = child.wait() => return status,
                _ = tokio::signal::ctrl_c() => {}
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
