//! What the program prints about itself: help, examples, exit codes and completions.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{deltascope, output};

#[test]
fn help_shows_examples_and_exit_codes() {
    for (args, said) in [
        (&["--help"][..], "Exit codes"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
        (&["serve", "--help"], "Examples:"),
        (&["record", "--help"], "Examples:"),
        (&["replay", "--help"], "Examples:"),
        (&["tap", "--help"], "Examples:"),
        (&["completions", "--help"], "Examples:"),
    ] {
        let output = output(&mut deltascope(args));
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains(said), "{args:?}: {out}");
    }
}

#[test]
fn completions_are_scripts_of_their_shell() {
    for (shell, check) in [
        ("bash", Some(["bash", "-n"])),
        ("zsh", Some(["zsh", "-n"])),
        ("fish", Some(["fish", "-n"])),
        ("powershell", None),
        ("elvish", None),
    ] {
        let script = output(&mut deltascope(&["completions", shell]));
        assert_eq!(script.status.code(), Some(0), "{shell}");
        let text = String::from_utf8_lossy(&script.stdout);
        assert!(text.contains("allow-writes"), "{shell}");
        let Some([program, option]) = check else {
            continue;
        };
        let parser = Command::new(program)
            .arg(option)
            .stdin(Stdio::piped())
            .spawn();
        // Not every machine has every shell.
        if let Ok(mut parser) = parser {
            let mut input = parser.stdin.take().unwrap();
            input.write_all(&script.stdout).unwrap();
            drop(input);
            assert!(parser.wait().unwrap().success(), "{shell}");
        }
    }
}
