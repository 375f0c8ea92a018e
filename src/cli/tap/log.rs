//! What the controller logs, read as it comes: from a file, or from what the command prints.

use std::fs::{File, Metadata};
use std::future::poll_fn;
use std::io::{self, Read as _, Seek as _, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep};

use deltascope_terminal::{self as terminal, Printed};
use deltascope_world::text::Lang;

use super::super::{Failure, cannot_read, note};
use super::teller::LogTeller;

/// How often a file is looked at.
const EVERY: Duration = Duration::from_millis(200);
/// Most bytes that are read at once.
const PIECE: u64 = 1 << 18;
/// How long what the command has started may go on printing after its end.
const AFTER: Duration = Duration::from_secs(2);
/// More than a pipe holds of what the command itself has printed.
const HELD_BY_PIPE: usize = 1 << 20;

/// A log that is being read.
pub(super) struct Reading {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Reading {
    /// Reads a file as it grows, from its end now on. It need not be there yet.
    pub(super) fn file(path: &Path, teller: LogTeller, lang: Lang) -> Result<Self, Failure> {
        let mut tail = Tail {
            path: path.to_owned(),
            file: None,
            at: 0,
            anew: false,
        };
        let before = tail.skip().map_err(|error| cannot_read(path, &error))?;
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            // The command does not wait for it: the log of earlier runs may be long.
            let mut is_over = false;
            let lines = spawn_blocking(move || before.map_or(0, lines));
            teller.skipped(tokio::select! {
                lines = lines => lines.unwrap_or_default(),
                // Nor does its end: the numbers of the lines are too small then.
                _ = &mut stopped => {
                    is_over = true;
                    0
                }
            });
            let mut was = None;
            loop {
                let (read, back) = more(tail).await;
                tail = back;
                match read {
                    Ok(None) if is_over => return,
                    Ok(None) => was = None,
                    Ok(Some(More { bytes, anew })) => {
                        teller.say(Printed::Out, bytes, anew).await;
                        continue;
                    }
                    Err(error) => {
                        // Once, until it can be read again.
                        let said = error.to_string();
                        if was.as_ref() != Some(&said) {
                            note(cannot_read(&tail.path, &error).text.get(lang));
                        }
                        was = Some(said);
                        if is_over {
                            return;
                        }
                    }
                }
                tokio::select! {
                    () = sleep(EVERY) => {}
                    _ = &mut stopped => is_over = true,
                }
            }
        });
        Ok(Self { stop, task })
    }

    /// Reads the rest, and ends.
    pub(super) async fn end(self) {
        // It may have ended by itself.
        let _over = self.stop.send(());
        let _done = self.task.await;
    }
}

/// Passes on what the command prints, and reads it as well.
pub(super) struct Passing {
    tasks: Vec<JoinHandle<()>>,
    ended: watch::Sender<bool>,
}

/// What a command prints, to be read.
pub(super) type Output = Box<dyn AsyncRead + Send + Unpin>;

impl Passing {
    pub(super) fn new(printed: Vec<(Printed, Output)>, teller: &LogTeller) -> Self {
        let (ended, over) = watch::channel(false);
        let pass = |(of, mut from): (Printed, Output)| {
            let (teller, mut over) = (teller.clone(), over.clone());
            tokio::spawn(async move {
                // Who reads it may be slow: only the command's time counts.
                let (mut left, mut more) = (AFTER, HELD_BY_PIPE);
                loop {
                    let mut bytes = vec![0; PIECE as usize / 4];
                    let mut room = ReadBuf::new(&mut bytes);
                    let read = poll_fn(|cx| Pin::new(&mut from).poll_read(cx, &mut room));
                    let (from, is_over) = (Instant::now(), *over.borrow());
                    let read = tokio::select! {
                        biased;
                        read = read => read,
                        () = late(&mut over, left) => return,
                    };
                    let size = room.filled().len();
                    if is_over {
                        left = left.saturating_sub(from.elapsed());
                        more = more.saturating_sub(size);
                    }
                    // The rest is not the command's own.
                    if read.is_err() || size == 0 || more == 0 {
                        return;
                    }
                    bytes.truncate(size);
                    let bytes = Bytes::from(bytes);
                    let passed = bytes.clone();
                    // Requests do not wait for who reads it.
                    let passed = spawn_blocking(move || terminal::pass(of, &passed)).await;
                    if !matches!(passed, Ok(Ok(()))) {
                        // Nobody reads it any more: the command is to find out.
                        return;
                    }
                    teller.say(of, bytes, false).await;
                }
            })
        };
        let tasks = printed.into_iter().map(pass).collect();
        Self { tasks, ended }
    }

    /// Waits for the rest, once the command has ended. What it has started may hold its output open.
    pub(super) async fn end(self) {
        // They may be over.
        let _over = self.ended.send(true);
        for task in self.tasks {
            let _done = task.await;
        }
    }
}

/// Waits until the command has ended, and then as long as is left.
async fn late(over: &mut watch::Receiver<bool>, left: Duration) {
    // Who says so may be gone.
    let _over = over.wait_for(|over| *over).await.is_ok();
    sleep(left).await;
}

/// A piece of a file.
struct More {
    bytes: Bytes,
    /// Whether the file begins anew with it.
    anew: bool,
}

/// The end of a file that grows.
struct Tail {
    path: PathBuf,
    file: Option<File>,
    /// How far it was read.
    at: u64,
    /// Whether what comes next is the beginning of a file.
    anew: bool,
}

async fn more(mut tail: Tail) -> (io::Result<Option<More>>, Tail) {
    let path = tail.path.clone();
    let read = spawn_blocking(move || (tail.more(), tail)).await;
    read.unwrap_or_else(|error| {
        let tail = Tail {
            path,
            file: None,
            at: 0,
            anew: true,
        };
        (Err(io::Error::other(error)), tail)
    })
}

/// How many lines there are. As far as they cannot be read, the numbers of those that follow are too small.
fn lines(mut text: Take<File>) -> u32 {
    let mut lines = 0_u32;
    let mut piece = vec![0; PIECE as usize];
    loop {
        match text.read(&mut piece) {
            Ok(0) => return lines,
            Ok(size) => {
                let ends = piece[..size].iter().filter(|byte| **byte == b'\n');
                lines = lines.saturating_add(u32::try_from(ends.count()).unwrap_or(u32::MAX));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return lines,
        }
    }
}

impl Tail {
    /// Passes over what is there already, and returns it.
    fn skip(&mut self) -> io::Result<Option<Take<File>>> {
        if !self.open()? {
            return Ok(None);
        }
        let before = File::open(&self.path)?;
        self.at = before.metadata()?.len();
        Ok(Some(before.take(self.at)))
    }

    /// Opens the file, if it is there.
    fn open(&mut self) -> io::Result<bool> {
        let is = match std::fs::metadata(&self.path) {
            Ok(is) => is,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // To open a pipe would wait for its writer.
        if !is.is_file() {
            return Err(io::Error::other(
                "it is no file; for what a command prints, give - and the command behind --",
            ));
        }
        self.file = Some(File::open(&self.path)?);
        self.at = 0;
        Ok(true)
    }

    /// What follows. A file that was cut off, or replaced by another of its name, begins anew.
    fn more(&mut self) -> io::Result<Option<More>> {
        if let Some(file) = &mut self.file {
            let old = file.metadata()?;
            if old.len() < self.at {
                (self.at, self.anew) = (0, true);
            }
            if let Some(more) = self.piece()? {
                return Ok(Some(more));
            }
            let new = std::fs::metadata(&self.path).ok();
            // Its writer may write to the old one until it has something to write to the new one.
            if !new.is_some_and(|new| new.len() > 0 && is_another(&old, &new)) {
                return Ok(None);
            }
            if let Some(more) = self.piece()? {
                return Ok(Some(more));
            }
        }
        if !self.open()? {
            return Ok(None);
        }
        self.anew = true;
        self.piece()
    }

    fn piece(&mut self) -> io::Result<Option<More>> {
        let Some(file) = &mut self.file else {
            return Ok(None);
        };
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.by_ref().take(PIECE).read_to_end(&mut bytes)?;
        self.at += bytes.len() as u64;
        Ok((!bytes.is_empty()).then(|| More {
            bytes: bytes.into(),
            anew: std::mem::take(&mut self.anew),
        }))
    }
}

#[cfg(unix)]
fn is_another(old: &Metadata, new: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (old.dev(), old.ino()) != (new.dev(), new.ino())
}

/// Without a number of the file, only one that was cut off shows.
#[cfg(not(unix))]
fn is_another(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_read_from_its_end_on_also_when_it_begins_anew() {
        let path = std::env::temp_dir().join(format!("deltascope-tail-{}.log", std::process::id()));
        let mut tail = Tail {
            path: path.clone(),
            file: None,
            at: 0,
            anew: false,
        };
        let read = |tail: &mut Tail| {
            let more = tail.more().unwrap();
            more.map(|more| (String::from_utf8(more.bytes.to_vec()).unwrap(), more.anew))
        };
        let more = |text: &str| {
            use io::Write as _;
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        assert!(tail.skip().unwrap().is_none(), "it is not there yet");
        assert_eq!(read(&mut tail), None);
        fs::write(&path, "a\nb\n").unwrap();
        assert_eq!(read(&mut tail), Some(("a\nb\n".to_owned(), true)));
        let mut later = Tail {
            path: path.clone(),
            file: None,
            at: 0,
            anew: false,
        };
        let before = later.skip().unwrap().unwrap();
        assert_eq!(read(&mut later), None);
        more("c\n");
        // They are counted later.
        assert_eq!(lines(before), 2);
        assert_eq!(read(&mut later), Some(("c\n".to_owned(), false)));
        assert_eq!(read(&mut tail), Some(("c\n".to_owned(), false)));
        assert_eq!(read(&mut tail), None);
        // Cut off, and written anew.
        fs::write(&path, "d\n").unwrap();
        assert_eq!(read(&mut tail), Some(("d\n".to_owned(), true)));
        // Seen while it is empty.
        fs::write(&path, "").unwrap();
        assert_eq!(read(&mut tail), None);
        more("d\n");
        assert_eq!(read(&mut tail), Some(("d\n".to_owned(), true)));
        // Moved away, with a last line, and another one in its place, which is empty at first.
        let old = path.with_extension("old");
        fs::rename(&path, &old).unwrap();
        assert_eq!(read(&mut tail), None);
        fs::write(&path, "").unwrap();
        assert_eq!(read(&mut tail), None);
        fs::write(&old, "d\ne\n").unwrap();
        fs::write(&path, "f\n").unwrap();
        assert_eq!(read(&mut tail), Some(("e\n".to_owned(), false)));
        #[cfg(unix)]
        assert_eq!(read(&mut tail), Some(("f\n".to_owned(), true)));
        fs::remove_file(&path).unwrap();
        fs::remove_file(&old).unwrap();
        let mut folder = Tail {
            path: std::env::temp_dir(),
            file: None,
            at: 0,
            anew: false,
        };
        assert!(folder.skip().unwrap_err().to_string().contains("no file"));
    }
}
