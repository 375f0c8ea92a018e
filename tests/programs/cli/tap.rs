//! `deltascope tap`: what passes through it, and the command that it starts.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::{
    HANGS, NOBODY, Proxy, Running, answer, ask, connect, deltascope, head_of, opened, output, pod,
    read_until, scratch, send, start,
};
#[cfg(unix)]
use super::{code, kill};

/// A tap without a command, in front of this proxy.
pub(super) struct Tap {
    running: Running,
    err: Receiver<String>,
    pub(super) port: u16,
    /// The path of the API behind it, with the token.
    pub(super) base: String,
    /// Its kubeconfig.
    pub(super) config: PathBuf,
}

impl Tap {
    pub(super) fn start(name: &str, proxy: &str, more: &[&str]) -> Self {
        let config = scratch(&format!("tap-{name}.kubeconfig"));
        let mut command = deltascope(&["tap", "--proxy", proxy, "--kubeconfig-out"]);
        let (running, _, err) = start(command.arg(&config).args(more));
        let line = err.recv_timeout(HANGS).expect("it does not start");
        assert!(line.contains("tap: http://127.0.0.1:"), "{line}");
        let read: Value = serde_json::from_slice(&fs::read(&config).unwrap()).unwrap();
        let server = read["clusters"][0]["cluster"]["server"].as_str().unwrap();
        let rest = server.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        Self {
            running,
            err,
            port: port.parse().unwrap(),
            base: format!("/{token}"),
            config,
        }
    }

    /// Ends it as Ctrl-C does, and returns what it says then.
    #[cfg(unix)]
    pub(super) fn end(&mut self) -> String {
        kill(&self.running, "INT");
        assert_eq!(code(&mut self.running), Some(0));
        self.err.iter().collect::<Vec<_>>().join("\n")
    }

    /// The head of a request, without its empty line.
    pub(super) fn head(&self, method: &str, path: &str) -> String {
        let Self { port, base, .. } = self;
        format!("{method} {base}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")
    }
}

#[test]
fn only_who_knows_the_token_comes_through() {
    let proxy = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "application/json", b"{}"));
    let tap = Tap::start("gate", &proxy.url, &[]);
    let (port, base) = (tap.port, &*tap.base);
    let own = format!("127.0.0.1:{port}");
    let other = base.replace(|c: char| c.is_ascii_digit(), "x");
    // The path, its Host, other headers, and the status.
    let table: &[(&str, &str, &str, u16)] = &[
        (&format!("{base}/api/v1/pods"), &own, "", 200),
        (&format!("{base}/"), &own, "", 200),
        (
            &format!("{base}/api/v1/pods"),
            &format!("localhost:{port}"),
            "",
            200,
        ),
        ("/api/v1/pods", &own, "", 404),
        ("/", &own, "", 404),
        (base, &own, "", 404),
        (&format!("{other}/api/v1/pods"), &own, "", 404),
        (&format!("{base}0/api/v1/pods"), &own, "", 404),
        (&format!("/{base}/api/v1/pods"), &own, "", 404),
        (&format!("{base}/api/v1/pods"), "evil.example", "", 403),
        (
            &format!("{base}/api/v1/pods"),
            &format!("evil.example:{port}"),
            "",
            403,
        ),
        (
            &format!("{base}/api/v1/pods"),
            &own,
            "Origin: http://evil.example\r\n",
            403,
        ),
        (
            &format!("{base}/api/v1/pods"),
            &own,
            "Origin: null\r\n",
            403,
        ),
        (
            &format!("{base}/api/v1/pods"),
            &own,
            "Sec-Fetch-Site: cross-site\r\n",
            403,
        ),
        (
            &format!("{base}/api/v1/namespaces/a/pods/b/exec"),
            &own,
            "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n",
            501,
        ),
    ];
    for (path, host, more, code) in table {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        let request = request.replace(
            "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nConnection: close",
            "Connection: Upgrade, close\r\nUpgrade: SPDY/3.1",
        );
        let got = ask(port, request.as_bytes());
        assert_eq!(got.code, *code, "{path} {host} {more}: {}", got.text());
        if *code != 200 {
            // Clients print the message of a Status.
            let status: Value = serde_json::from_slice(&got.body).unwrap();
            assert_eq!(status["kind"], "Status");
            assert_eq!(status["code"], *code);
        }
    }
}

#[test]
fn requests_pass_as_they_are_but_for_their_encoding() {
    let (send, seen) = channel();
    let proxy = Proxy::start(move |head, mut to| {
        let size = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; size.map_or(0, |size| size.parse().unwrap())];
        to.read_exact(&mut body).unwrap();
        if head.contains("transfer-encoding: chunked") {
            read_until(&mut to, b"0\r\n\r\n");
        }
        send.send((head, body)).unwrap();
        answer(
            &mut to,
            "201 Created",
            "application/json",
            b"{\"kind\":\"Pod\"}",
        );
    });
    let tap = Tap::start("pass", &proxy.url, &[]);
    let mut stream = connect(tap.port);
    // Two requests of one connection, the second in chunks.
    let first = tap.head("POST", "/api/v1/namespaces/a/pods?dryRun=All&x=%2F");
    let accept =
        "Accept: application/vnd.kubernetes.protobuf,application/json\r\nAccept-Encoding: gzip\r\n";
    let rest = "User-Agent: manager/v1\r\nAuthorization: Bearer own\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n";
    write!(
        stream,
        "{first}{accept}{rest}Content-Length: 4\r\n\r\nk8s\0"
    )
    .unwrap();
    let answered = read_until(&mut stream, b"{\"kind\":\"Pod\"}");
    // It shares its origin with the page.
    let answered = String::from_utf8_lossy(&answered).to_lowercase();
    let sandbox = "content-security-policy: sandbox; default-src 'none'\r\n";
    assert!(answered.contains(sandbox), "{answered}");
    let (head, body) = seen.recv_timeout(HANGS).unwrap();
    assert!(
        head.starts_with("POST /api/v1/namespaces/a/pods?dryRun=All&x=%2F HTTP/1.1\r\n"),
        "{head}"
    );
    for line in [
        "accept: application/json\r\n",
        "user-agent: manager/v1\r\n",
        "authorization: Bearer own\r\n",
        "content-type: application/vnd.kubernetes.protobuf\r\n",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    assert!(!head.contains("gzip"), "{head}");
    assert_eq!(body, b"k8s\0");
    let second = tap.head("PATCH", "/api/v1/namespaces/a/pods/b");
    write!(
        stream,
        "{second}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    )
    .unwrap();
    read_until(&mut stream, b"{\"kind\":\"Pod\"}");
    let (head, _) = seen.recv_timeout(HANGS).unwrap();
    assert!(
        head.starts_with("PATCH /api/v1/namespaces/a/pods/b "),
        "{head}"
    );
}

#[test]
fn a_watch_passes_line_by_line_and_ends_with_its_client() {
    let (ended, end) = channel();
    let proxy = Proxy::start(move |_, mut to| {
        opened(&mut to);
        send(&mut to, "ADDED", &pod("one", 1));
        // The client asks for the next one by another request, so nothing waits for a time.
        let read = to.read(&mut [0; 1]).unwrap_or(0);
        ended.send(read).unwrap();
    });
    let tap = Tap::start("watch", &proxy.url, &[]);
    let mut watches: Vec<TcpStream> = (0..20).map(|_| connect(tap.port)).collect();
    for watch in &mut watches {
        let head = tap.head("GET", "/api/v1/pods?watch=true");
        write!(watch, "{head}\r\n").unwrap();
    }
    // All are open at once, and none is held back until it ends.
    for watch in &mut watches {
        read_until(watch, b"\"type\":\"ADDED\"}\n");
    }
    drop(watches);
    for _ in 0..20 {
        assert_eq!(end.recv_timeout(HANGS).expect("it stays open"), 0);
    }
}

#[test]
fn what_fails_says_why() {
    let gone = Proxy::start(|head, to| {
        // The connection ends without an answer, but for the tap's own question.
        drop((head, to));
    });
    let tap = Tap::start("gone", &gone.url, &[]);
    let head = tap.head("GET", "/api/v1/pods");
    let got = ask(
        tap.port,
        format!("{head}Connection: close\r\n\r\n").as_bytes(),
    );
    let status: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(got.code, 502);
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("kubectl proxy --port="), "{message}");
    // What is only counted has failed as well.
    let mut read = Value::Null;
    for (method, path) in [
        ("GET", "/api/v1/namespaces/a/pods/b"),
        ("DELETE", "/api/v1/namespaces/a/pods/b"),
        ("GET", "/deltascope/informers.json"),
    ] {
        let head = tap.head(method, path);
        let got = ask(
            tap.port,
            format!("{head}Connection: close\r\n\r\n").as_bytes(),
        );
        read = serde_json::from_slice(&got.body).unwrap();
    }
    let counts = read["requests"].as_array().unwrap().iter();
    let counts: Vec<_> = counts
        .map(|one| (one["verb"].as_str().unwrap(), &one["count"], &one["failed"]))
        .collect();
    let once = json!(1);
    assert_eq!(
        counts,
        [("delete", &once, &once), ("get", &once, &once)],
        "{read:#}"
    );
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    thread::spawn(move || {
        let (mut to, _) = other.accept().unwrap();
        head_of(&mut to);
        answer(&mut to, "200 OK", "application/json", b"{}");
    });
    let other = format!("http://{address}/");
    let table: &[(&[&str], i32, &str)] = &[
        (&["tap", "--proxy", NOBODY], 3, "kubectl proxy --port=1"),
        (
            &["tap", "--proxy", &gone.url, "--", "no/such/program"],
            1,
            "no/such/program",
        ),
        (
            &[
                "tap",
                "--proxy",
                &gone.url,
                "--kubeconfig-out",
                "no/such/file",
            ],
            1,
            "no/such/file",
        ),
        // It answers, but is no API server.
        (&["tap", "--proxy", &other], 3, "gitVersion"),
        (
            &["tap", "--proxy", &gone.url, "no/such/program", "--port"],
            1,
            "no/such/program",
        ),
    ];
    for (args, code, said) in table {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

#[test]
fn only_a_kubeconfig_of_the_tap_is_overwritten() {
    let proxy = Proxy::start(|_, _| {});
    let folder = scratch("tap-overwrite");
    let _none = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("folder")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("text", "apiVersion: v1\nkind: Config\n");
    write("json", "{\"clusters\":[{\"name\":\"prod\"}]}");
    // Somebody has added a cluster.
    write(
        "more",
        "{\"clusters\":[{\"name\":\"deltascope-tap\"},{\"name\":\"prod\"}]}",
    );
    let tap = |path: &Path| {
        let mut command = deltascope(&["tap", "--proxy", &proxy.url, "--kubeconfig-out"]);
        let output = output(command.arg(path).args(["--", "true"]));
        let err = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), err)
    };
    let others = ["text", "json", "more", "folder"].map(|name| folder.join(name));
    let mut others = others.to_vec();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("text"), folder.join("link")).unwrap();
        others.extend([folder.join("link"), "/dev/null".into()]);
    }
    for path in &others {
        let before = fs::read(path).ok();
        let (code, err) = tap(path);
        assert_eq!(code, Some(1), "{err}");
        let wanted = format!(
            "{} exists and is not a kubeconfig of the tap: name another file.",
            path.display()
        );
        assert!(err.contains(&wanted), "{err}");
        assert_eq!(fs::read(path).ok(), before, "{path:?}");
    }
    let own = folder.join("own");
    let servers = [(), ()].map(|()| {
        assert_eq!(tap(&own).0, Some(0));
        let config: Value = serde_json::from_slice(&fs::read(&own).unwrap()).unwrap();
        config["clusters"][0]["cluster"]["server"].clone()
    });
    assert_ne!(servers[0], servers[1], "it is written anew");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&own).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let left = fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, others.len(), "nothing lies beside it");
}

#[test]
fn recordings_go_into_a_new_folder() {
    let proxy = Proxy::start(|_, _| {});
    let folder = scratch("tap-old");
    fs::create_dir_all(&folder).unwrap();
    let old = folder.join("01-pods-all.jsonl");
    fs::write(&old, "old").unwrap();
    let mut command = deltascope(&["tap", "--proxy", &proxy.url, "--out"]);
    let output = output(command.arg(&folder).args(["--", "true"]));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("name a new folder"), "{err}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_the_command_starts() {
    let proxy = Proxy::start(|_, _| {});
    let (nowhere, started) = (scratch("no/such").join("run.html"), scratch("tap-started"));
    let _none = fs::remove_file(&started);
    let mut command = deltascope(&["tap", "--proxy", &proxy.url, "--report"]);
    command.arg(&nowhere).args(["--", "touch"]).arg(&started);
    let output = output(&mut command);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("no/such"), "{err}");
    assert!(!started.exists(), "the command ran");
}

#[test]
fn a_tap_that_does_not_start_leaves_no_report() {
    let report = scratch("unstarted.html");
    let _none = fs::remove_file(&report);
    let mut command = deltascope(&["tap", "--proxy", NOBODY, "--report"]);
    let output = output(command.arg(&report).args(["--", "true"]));
    assert_eq!(output.status.code(), Some(3));
    assert!(!report.exists());
}

#[test]
fn hostile_clients_leave_it_alive() {
    let body = vec![b' '; 1 << 20];
    let proxy = Proxy::start(move |_, mut to| {
        // A body that nobody reads fills the buffers on the way, and then waits.
        opened(&mut to);
        for _ in 0..64 {
            let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n"].concat();
            if to.write_all(&chunk).is_err() {
                return;
            }
        }
        let _gone = to.write_all(b"0\r\n\r\n");
    });
    let tap = Tap::start("hostile", &proxy.url, &[]);
    let mut open = Vec::new();
    for bytes in [
        tap.head("GET", "/api/v1/pods"),
        format!(
            "{}Content-Length: 100\r\n\r\nhalf",
            tap.head("POST", "/api/v1/pods")
        ),
        format!("{}\r\n", tap.head("GET", "/unread")),
        "\u{16}\u{3}\u{1}\0\0".to_owned(),
        "GET".to_owned(),
        "\r\n\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n", "x".repeat(100_000)),
        format!("{}X: {}\r\n", tap.head("GET", "/"), "y".repeat(1 << 20)),
    ] {
        for _ in 0..10 {
            let mut stream = connect(tap.port);
            // It may close the connection before all is sent.
            let _refused = stream.write_all(bytes.as_bytes());
            open.push(stream);
        }
    }
    let head = tap.head("GET", "/version");
    let got = ask(
        tap.port,
        format!("{head}Accept: */*\r\nConnection: close\r\n\r\n").as_bytes(),
    );
    assert_eq!(got.code, 200);
    drop(open);
}

#[cfg(unix)]
mod command {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    fn version() -> Proxy {
        Proxy::start(|_, mut to| answer(&mut to, "200 OK", "application/json", b"{}"))
    }

    #[test]
    fn what_the_command_prints_and_returns_is_its_own() {
        let proxy = version();
        let script = "cat \"$KUBECONFIG\"; echo \"$KUBECONFIG\" >&2; exit 7";
        let args = ["tap", "--proxy", &proxy.url, "--", "sh", "-c", script];
        let output = output(&mut deltascope(&args));
        assert_eq!(output.status.code(), Some(7));
        let config: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            config["users"],
            json!([{ "name": "deltascope-tap", "user": {} }])
        );
        let err = String::from_utf8(output.stderr).unwrap();
        let path = err
            .lines()
            .find(|line| line.ends_with(".kubeconfig") && !line.contains(' '));
        assert!(!Path::new(path.unwrap()).exists(), "it goes with the tap");
    }

    #[test]
    fn signals_reach_the_command() {
        let proxy = version();
        for (signal, script, wanted) in [
            (
                "INT",
                "trap 'echo bye; exit 5' INT; echo on; while kill -0 $PPID; do :; done",
                5,
            ),
            (
                "TERM",
                "trap 'echo bye; exit 6' TERM; echo on; while kill -0 $PPID; do :; done",
                6,
            ),
            // One that has no trap of its own ends by the signal.
            ("TERM", "echo on; while kill -0 $PPID; do :; done", 128 + 15),
            (
                "QUIT",
                "trap 'echo bye; exit 7' QUIT; echo on; while kill -0 $PPID; do :; done",
                7,
            ),
            (
                "HUP",
                "trap 'echo bye; exit 8' HUP; echo on; while kill -0 $PPID; do :; done",
                8,
            ),
            (
                "USR1",
                "trap 'echo bye; exit 9' USR1; echo on; while kill -0 $PPID; do :; done",
                9,
            ),
            (
                "USR2",
                "trap 'echo bye; exit 10' USR2; echo on; while kill -0 $PPID; do :; done",
                10,
            ),
        ] {
            let args = ["tap", "--proxy", &proxy.url, "--", "sh", "-c", script];
            let (mut running, out, _) = start(&mut deltascope(&args));
            assert_eq!(out.recv_timeout(HANGS).unwrap(), "on");
            kill(&running, signal);
            assert_eq!(code(&mut running), Some(wanted), "{signal}");
            assert_eq!(out.iter().next().is_some(), wanted < 100, "{signal}");
        }
    }

    /// A folder with a program in place of kubectl, whose `proxy` prints a line and goes on; and the `PATH` with it.
    fn kubectl(name: &str, says: &str) -> (PathBuf, String) {
        let folder = scratch(name);
        let _none = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let kubectl = folder.join("kubectl");
        let context = json!({ "current-context": "dev", "contexts": [
            { "name": "dev", "context": { "namespace": "team-a" } }] });
        let pid = folder.join("pid");
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = proxy ]; then echo $$ > '{}'; echo proxy >&2; {says}; exec tail -f /dev/null; fi\necho '{context}'\n",
            pid.display()
        );
        fs::write(&kubectl, script).unwrap();
        fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        (pid, path)
    }

    fn ended(pid: &Path) {
        let pid = fs::read_to_string(pid).unwrap();
        let alive = Command::new("kill").args(["-0", pid.trim()]).status();
        assert!(!alive.unwrap().success(), "it outlives the tap");
    }

    #[test]
    fn a_signal_before_the_command_ends_all_that_is_started() {
        for (signal, wanted) in [
            ("INT", 2),
            ("TERM", 15),
            ("QUIT", 3),
            ("HUP", 1),
            ("USR1", 10),
        ] {
            // It never says where it listens.
            let (pid, path) = kubectl(&format!("tap-early-{signal}"), ":");
            let mut command = deltascope(&["tap", "--", "sh", "-c", "echo never"]);
            let (mut running, out, err) = start(command.env("PATH", path));
            assert_eq!(err.recv_timeout(HANGS).unwrap(), "proxy");
            kill(&running, signal);
            assert_eq!(code(&mut running), Some(128 + wanted), "{signal}");
            assert_eq!(out.iter().next(), None);
            ended(&pid);
        }
    }

    #[test]
    fn a_proxy_is_started_and_ends_with_the_tap() {
        let proxy = version();
        let address = proxy
            .url
            .trim_start_matches("http://")
            .trim_end_matches('/');
        let socket = scratch("kubectl.sock");
        let _none = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                assert!(head_of(&mut stream).contains("host: localhost\r\n"));
                let version = b"{\"gitVersion\":\"v1.34.0\"}";
                answer(&mut stream, "200 OK", "application/json", version);
            }
        });
        let socket = socket.to_str().unwrap();
        // Sockets have no long paths.
        let far = scratch(&"x".repeat(100));
        fs::create_dir_all(&far).unwrap();
        let near = std::env::temp_dir();
        let table = [
            (near, socket, socket, "--unix-socket="),
            (far.clone(), address, &proxy.url, "--port=0"),
            // A path that kubectl can name.
            (".".into(), socket, socket, "--unix-socket=/"),
        ];
        for (number, (temporary, listens, shown, option)) in table.into_iter().enumerate() {
            let asked = scratch(&format!("kubectl-{number}.asked"));
            let says = format!(
                "echo \"$2\" > '{0}'; ls -ld \"$(dirname \"${{2#*=}}\")\" >> '{0}'; echo \"Starting to serve on {listens}\"",
                asked.display()
            );
            let (pid, path) = kubectl(&format!("tap-kubectl-{number}"), &says);
            let mut command = deltascope(&["tap", "--", "sh", "-c", "cat \"$KUBECONFIG\""]);
            command.current_dir(std::env::temp_dir());
            let output = output(command.env("PATH", path).env("TMPDIR", temporary));
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{err}");
            assert!(err.contains(&format!("-> {shown}")), "{err}");
            assert!(!err.contains("no API server"), "{err}");
            let is_open = err.contains("without a token");
            assert_eq!(is_open, option == "--port=0", "{err}");
            let config: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(config["current-context"], "dev");
            assert_eq!(config["contexts"][0]["name"], "dev");
            assert_eq!(config["contexts"][0]["context"]["namespace"], "team-a");
            ended(&pid);
            let asked = fs::read_to_string(&asked).unwrap();
            let (place, folder) = asked.split_once('\n').unwrap();
            let given = place.strip_prefix(option).expect(place);
            if option != place {
                // Only its owner enters the folder, and it goes with the tap.
                assert!(folder.starts_with("drwx------"), "{folder}");
                assert!(!Path::new(given).parent().unwrap().exists(), "{given}");
            }
        }
        fs::remove_dir_all(&far).unwrap();
    }
}
