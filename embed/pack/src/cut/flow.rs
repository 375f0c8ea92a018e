//! What a stretch of a function needs to be a function of its own: the locals that it reads, those that it sets and that are read after it,
//! and the ways in which control leaves it.

use std::collections::BTreeSet;
use std::ops::Range;

use wasmparser::Operator;

use super::body::Body;

/// How a stretch is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    /// To a label, counted from the stretch outwards.
    Label(u32),
    Return,
    /// Behind its end.
    Falls,
}

type Locals = BTreeSet<u32>;

/// Instructions of a function that can be one of their own.
pub(super) struct Stretch {
    pub(super) range: Range<usize>,
    /// What it is given, and what it returns: locals.
    pub(super) params: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// In order.
    pub(super) exits: Vec<Exit>,
    /// The locals that it has.
    pub(super) used: Locals,
}

impl Stretch {
    /// The number that says how it was left: of the last way, 0.
    pub(super) fn code(&self, exit: Exit) -> i32 {
        let at = self
            .exits
            .iter()
            .position(|&one| one == exit)
            .unwrap_or_default();
        (self.exits.len() - 1 - at) as i32
    }

    /// How a jump over so many blocks around it leaves it.
    pub(super) fn exit(&self, label: u32) -> Exit {
        if self.exits.contains(&Exit::Label(label)) {
            Exit::Label(label)
        } else {
            Exit::Return
        }
    }
}

/// Which locals of a function are read after each of its instructions.
pub(super) struct Flow<'b, 'a> {
    body: &'b Body<'a>,
    live: Vec<Locals>,
    /// The blocks around each instruction.
    around: Vec<Vec<usize>>,
}

impl<'b, 'a> Flow<'b, 'a> {
    pub(super) fn of(body: &'b Body<'a>) -> Self {
        let mut flow = Self {
            body,
            live: vec![Locals::new(); body.ops.len() + 1],
            around: vec![Vec::new(); body.ops.len()],
        };
        let mut open = Vec::new();
        for (at, op) in body.ops.iter().enumerate() {
            if matches!(op.operator, Operator::End) {
                open.pop();
            }
            flow.around[at].clone_from(&open);
            if op.after > 0 {
                open.push(at);
            }
        }
        flow.back(0, body.ops.len() - 1, Locals::new(), &mut Vec::new());
        flow
    }

    /// What is read from `from` on, if `out` is after `to`.
    fn back(
        &mut self,
        from: usize,
        to: usize,
        mut out: Locals,
        labels: &mut Vec<Locals>,
    ) -> Locals {
        let mut items = Vec::new();
        let mut at = from;
        while at < to {
            items.push(at);
            at = if self.body.ops[at].after > 0 {
                self.body.ops[at].after
            } else {
                at + 1
            };
        }
        self.live[to].clone_from(&out);
        let label = |labels: &[Locals], depth: u32| {
            let at = labels.len().checked_sub(1 + depth as usize);
            at.map_or_else(Locals::new, |at| labels[at].clone())
        };
        for at in items.into_iter().rev() {
            let (operator, after) = (self.body.ops[at].operator.clone(), self.body.ops[at].after);
            match operator {
                Operator::Block { .. } => {
                    labels.push(out.clone());
                    out = self.back(at + 1, after - 1, out, labels);
                    labels.pop();
                }
                Operator::Loop { .. } => {
                    let mut head = Locals::new();
                    out = loop {
                        labels.push(head.clone());
                        let inner = self.back(at + 1, after - 1, out.clone(), labels);
                        labels.pop();
                        if inner.is_subset(&head) {
                            break head;
                        }
                        head.extend(inner);
                    };
                }
                Operator::If { .. } => {
                    labels.push(out.clone());
                    let other = self.otherwise(at, after);
                    let end = after - 1;
                    let mut both = self.back(at + 1, other.unwrap_or(end), out.clone(), labels);
                    both.extend(match other {
                        Some(other) => self.back(other + 1, end, out, labels),
                        None => out,
                    });
                    out = both;
                    labels.pop();
                }
                Operator::Br { relative_depth } => out = label(labels, relative_depth),
                Operator::BrIf { relative_depth } => out.extend(label(labels, relative_depth)),
                Operator::BrTable { targets } => {
                    out = label(labels, targets.default());
                    for target in targets.targets().flatten() {
                        out.extend(label(labels, target));
                    }
                }
                Operator::Return | Operator::Unreachable => out = Locals::new(),
                Operator::LocalGet { local_index } => {
                    out.insert(local_index);
                }
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                    out.remove(&local_index);
                }
                _ => {}
            }
            self.live[at].clone_from(&out);
        }
        out
    }

    /// Where the other arm of an `if` begins.
    fn otherwise(&self, begin: usize, after: usize) -> Option<usize> {
        let mut at = begin + 1;
        while at < after {
            let op = &self.body.ops[at];
            if matches!(op.operator, Operator::Else) {
                return Some(at);
            }
            at = if op.after > 0 { op.after } else { at + 1 };
        }
        None
    }

    /// A stretch, if it can be taken out, and that is worth it.
    pub(super) fn stretch(&self, range: Range<usize>) -> Option<Stretch> {
        let ops = &self.body.ops;
        let around = &self.around[range.start];
        let (mut reads, mut writes, mut exits) = (Locals::new(), Locals::new(), BTreeSet::new());
        let mut depth = 0;
        for op in &ops[range.clone()] {
            let mut jump = |to: u32, is_plain: bool| {
                let Some(label) = to.checked_sub(depth) else {
                    return true;
                };
                match around.len().checked_sub(1 + label as usize) {
                    Some(at) => {
                        exits.insert(Exit::Label(label));
                        ops[around[at]].takes == 0
                    }
                    // Out of the function.
                    None => {
                        exits.insert(Exit::Return);
                        is_plain
                    }
                }
            };
            let can = match &op.operator {
                Operator::LocalGet { local_index } => {
                    reads.insert(*local_index);
                    true
                }
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                    writes.insert(*local_index);
                    true
                }
                Operator::Br { relative_depth } => jump(*relative_depth, true),
                Operator::BrIf { relative_depth } => {
                    jump(*relative_depth, self.body.ty.results().is_empty())
                }
                Operator::BrTable { targets } => targets
                    .targets()
                    .flatten()
                    .chain([targets.default()])
                    .all(|target| target < depth),
                Operator::Return => {
                    exits.insert(Exit::Return);
                    true
                }
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                    depth += 1;
                    true
                }
                Operator::End => {
                    depth -= 1;
                    true
                }
                _ => true,
            };
            if !can {
                return None;
            }
        }
        if ops[range.end].is_reached {
            exits.insert(Exit::Falls);
        }
        let mut later = Locals::new();
        for &exit in &exits {
            match exit {
                Exit::Falls => later.extend(&self.live[range.end]),
                Exit::Label(label) => {
                    let begin = around[around.len() - 1 - label as usize];
                    let to = if matches!(ops[begin].operator, Operator::Loop { .. }) {
                        begin
                    } else {
                        ops[begin].after
                    };
                    later.extend(&self.live[to]);
                }
                Exit::Return => {}
            }
        }
        let outputs: Vec<u32> = writes.intersection(&later).copied().collect();
        let needed: Locals = reads.iter().chain(&outputs).copied().collect();
        let params: Vec<u32> = self.live[range.start]
            .intersection(&needed)
            .copied()
            .collect();
        let size = ops[range.end - 1].bytes.end - ops[range.start].bytes.start;
        let cost = 8 + 2 * params.len() + 2 * outputs.len() + 5 * exits.len();
        let used = reads.union(&writes).copied().collect();
        (size > 3 * cost).then(|| Stretch {
            range,
            params,
            outputs,
            exits: exits.into_iter().collect(),
            used,
        })
    }
}
