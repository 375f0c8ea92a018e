//! Cuts small programs that are made by chance, and runs them before and after in node, with the loader that the page has: they must do
//! the same, whichever functions come later.

mod function;
mod program;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use wasmparser::Validator;

use super::body::bodies;
use super::count::counting;
use super::linked::Linked;
use super::list::List;
use super::{Cut, Named, cut, functions};
use crate::split::LOADER;
use program::Program;
use world::Choices;

const OTHERS: usize = super::Side::OTHERS.len();

/// A process of node that runs programs.
struct Node(Child, BufReader<std::process::ChildStdout>);

impl Node {
    fn start() -> Self {
        let mut child = Command::new("node")
            .args(["--input-type=module", "--eval", include_str!("run.mjs")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the cut's tests run programs in node, which does not start");
        let out = BufReader::new(child.stdout.take().unwrap());
        Self(child, out)
    }

    fn asked(task: &Value) -> Value {
        static NODE: LazyLock<Mutex<Node>> = LazyLock::new(|| Mutex::new(Node::start()));
        let mut node = NODE.lock().unwrap_or_else(|broken| broken.into_inner());
        let Self(child, out) = &mut *node;
        writeln!(child.stdin.as_mut().unwrap(), "{task}").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect("node has ended: see what it has printed")
    }
}

/// A program, its functions, and what it is called with.
struct Case<'p> {
    program: &'p Program,
    linked: Linked<'p>,
    functions: Vec<Named>,
    calls: Vec<[i32; 2]>,
}

impl<'p> Case<'p> {
    fn of(program: &'p Program, calls: &[[i32; 2]]) -> Self {
        Validator::new().validate_all(&program.bound).unwrap();
        let linked = Linked::read(&program.linked).unwrap();
        let functions = functions(&program.bound, &linked).unwrap();
        Self {
            program,
            linked,
            functions,
            calls: calls.to_vec(),
        }
    }

    fn cut(&self, list: &str) -> Cut {
        let list = List::read(list).unwrap();
        let unused = BTreeSet::from(["gone".to_owned()]);
        let bytes = &self.program.bound;
        cut(bytes, &self.functions, &list, &self.linked, &unused).unwrap()
    }

    /// What differs after the cut, if anything does, and which files it has waited for. Some have come before the calls.
    fn compared(&self, cut: &Cut, early: &[Vec<usize>]) -> (Option<String>, Vec<usize>) {
        let others: Vec<String> = cut.others.iter().map(|(_, bytes)| base64(bytes)).collect();
        let answer = Node::asked(&json!({
            "before": base64(&self.program.bound),
            "main": base64(&cut.main),
            "others": others,
            "stands": cut.stands.told(),
            "names": cut.imports,
            "calls": self.calls,
            "early": early,
            "loader": LOADER,
        }));
        (
            answer["error"].as_str().map(str::to_owned),
            serde_json::from_value(answer["waited"].clone()).unwrap(),
        )
    }

    /// What `make starts` would write: the functions and points that no call reaches belong to the rest.
    fn what_ran(&self) -> String {
        let whole = self.cut("");
        let counting = counting(&whole.main).unwrap();
        let length: usize = counting.points.iter().map(Vec::len).sum();
        let marks = Node::asked(&json!({
            "counts": { "program": base64(&counting.bytes), "at": counting.at, "length": length },
            "calls": { "args": self.calls, "names": whole.imports },
        }));
        let marks: Vec<u8> = serde_json::from_value(marks).unwrap();
        let mut marks = marks.into_iter();
        // Functions that are alike are one for the list.
        let mut ran: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        for (one, points) in self.functions.iter().zip(&counting.points) {
            let of_it = marks.by_ref().take(points.len()).map(|mark| mark != 0);
            let of_it: Vec<bool> = of_it.collect();
            let all = ran
                .entry(&one.content)
                .or_insert_with(|| vec![false; points.len()]);
            all.iter_mut().zip(of_it).for_each(|(all, one)| *all |= one);
        }
        let (mut rest, mut points) = ("# rest\n".to_owned(), "# points\n".to_owned());
        for (content, ran) in ran.iter().filter(|(content, _)| !content.is_empty()) {
            if ran[0] {
                points += &format!("{content}\t{}\t\n", numbers(ran, |ran| !ran));
            } else {
                rest += &format!("\t{content}\n");
            }
        }
        rest + &points
    }

    /// A list that says anything.
    fn any_list(&self, choices: &mut Choices<'_>) -> String {
        let mut lines = [const { String::new() }; 6];
        for one in &self.functions {
            // Most belong to the rest, which only then has data of its own.
            if let at @ 1..=7 = choices.below(9) {
                lines[at.min(5) - 1] += &format!("{}\t{}\n", one.path, one.content);
            }
            // A stretch may have one point, or many.
            let (few, mut side) = (choices.below(2) == 0, 0);
            let mut next = || {
                if few || choices.below(3) == 0 {
                    side = choices.below(4);
                }
                side
            };
            let sides: Vec<usize> = (0..24).map(|_| next()).collect();
            let is = |side: usize| numbers(&sides, |one| *one == side);
            if !one.content.is_empty() {
                lines[5] += &format!("{}\t{}\t{}\t{}\n", one.content, is(1), is(2), is(3));
            }
        }
        ["page", "element", "more", "seldom", "rest", "points"]
            .iter()
            .zip(&lines)
            .map(|(headline, lines)| format!("# {headline}\n{lines}"))
            .collect()
    }
}

/// Which of some there are, by their numbers.
fn numbers<T>(all: &[T], is: impl Fn(&T) -> bool) -> String {
    let of = (0..).zip(all).filter(|(_, one)| is(one));
    let of: Vec<String> = of.map(|(at, _): (usize, _)| at.to_string()).collect();
    of.join(" ")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(three.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// A program's instructions, for whoever looks for a mistake.
fn told(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, body) in bodies(bytes).unwrap().iter().enumerate() {
        text += &format!("\nfunction {at}, {:?}, {:?}:", body.ty, body.locals);
        let ops = body.ops.iter().map(|op| (op.point, &op.operator));
        let ops = ops.filter(|(_, operator)| !matches!(operator, wasmparser::Operator::Nop));
        text.extend(ops.map(|(point, operator)| format!("\n  {point} {operator:?}")));
    }
    text
}

fn calls() -> impl Strategy<Value = Vec<[i32; 2]>> {
    vec([-3..9, 0..3_i32], 1..4)
}

/// What is easily forgotten, each with the points that come later.
#[test]
fn a_stretch_gets_and_gives_what_it_must() {
    use wasm_encoder::{BlockType::Empty, Instruction as I};
    let nops = || (0..90).map(|_| I::Nop);
    let with_nops = |before: Vec<I<'static>>, after: Vec<I<'static>>| -> Vec<I<'static>> {
        before.into_iter().chain(nops()).chain(after).collect()
    };
    let set_on_a_path = with_nops(
        vec![
            I::I32Const(7),
            I::LocalSet(2),
            I::Block(Empty),
            I::LocalGet(0),
            I::BrIf(0),
            I::LocalGet(1),
            I::If(Empty),
            I::I32Const(3),
            I::LocalSet(2),
            I::End,
        ],
        vec![I::End, I::LocalGet(2)],
    );
    let read_at_a_label = with_nops(
        vec![
            I::Block(Empty),
            I::Block(Empty),
            I::LocalGet(0),
            I::BrIf(0),
            I::I32Const(9),
            I::LocalSet(2),
            I::LocalGet(1),
            I::BrIf(1),
        ],
        vec![
            I::End,
            I::I32Const(1),
            I::LocalSet(2),
            I::End,
            I::LocalGet(2),
        ],
    );
    let read_in_the_next_round = with_nops(
        vec![
            I::Loop(Empty),
            I::Block(Empty),
            I::LocalGet(0),
            I::BrIf(0),
            I::LocalGet(2),
            I::Call(0),
            I::LocalSet(2),
        ],
        vec![
            I::End,
            I::LocalGet(3),
            I::I32Const(1),
            I::I32Add,
            I::LocalTee(3),
            I::I32Const(3),
            I::I32LtS,
            I::BrIf(0),
            I::End,
            I::LocalGet(3),
        ],
    );
    let read_in_the_other_arm = with_nops(
        vec![
            I::Block(Empty),
            I::LocalGet(0),
            I::BrIf(0),
            I::I32Const(6),
            I::LocalSet(2),
        ],
        vec![
            I::End,
            I::LocalGet(1),
            I::If(Empty),
            I::Else,
            I::LocalGet(2),
            I::LocalSet(3),
            I::End,
            I::LocalGet(3),
        ],
    );
    for (what, instructions, points) in [
        ("set on a path", set_on_a_path, "1-3"),
        ("read at a label", read_at_a_label, "1-2"),
        ("read in the next round", read_in_the_next_round, "2"),
        ("read in the other arm", read_in_the_other_arm, "1"),
    ] {
        let program = Program::with(&instructions);
        let case = Case::of(&program, &[[0, 0], [0, 1], [1, 0]]);
        let content = &case.functions[3].content;
        let cut = case.cut(&format!("# points\n{content}\t{points}\t\n"));
        let (error, waited) = case.compared(&cut, &[]);
        assert_eq!((error, waited), (None, vec![3]), "{what}");
    }
}

#[test]
fn what_comes_after_the_rest_finds_its_data_there() {
    let program = Program::sharing();
    let case = Case::of(&program, &[[1, 0], [0, 0]]);
    for (seldom, side) in [("", 4), ("# seldom\n", 5)] {
        let cut = case.cut(&format!(
            "# rest\na::f\n{seldom}deltascope_page::board::own::f\n"
        ));
        assert_eq!(case.compared(&cut, &[]), (None, vec![3, side]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_cut_program_does_what_it_did(
        bytes in vec(any::<u8>(), 0..1_600),
        sides in vec(any::<u8>(), 0..600),
        early in vec(vec(0..OTHERS, 0..3), 0..3),
        calls in calls(),
    ) {
        let program = Program::of(&mut Choices(&bytes));
        let case = Case::of(&program, &calls);
        let cut = case.cut(&case.any_list(&mut Choices(&sides)));
        let (error, _) = case.compared(&cut, &early);
        prop_assert!(error.is_none(), "{}\n{}\n--- after:{}", error.unwrap(), told(&program.bound), told(&cut.main));
    }

    #[test]
    fn what_has_run_waits_for_nothing(bytes in vec(any::<u8>(), 0..1_600), calls in calls()) {
        let program = Program::of(&mut Choices(&bytes));
        let case = Case::of(&program, &calls);
        let cut = case.cut(&case.what_ran());
        let (error, waited) = case.compared(&cut, &[]);
        prop_assert_eq!((error, waited), (None, Vec::new()), "{}", told(&program.bound));
    }
}
