//! The statements and commands of one transaction, in their order.
//!
//! Variables that are set before any `\if`, `\gset` and `\sleep` are computed before the transaction begins. From the first
//! of these on, everything is a [`Step`] that a client takes when its turn has come. Each `\set` has a slot of its own, so
//! that a transaction that is tried again finds the values with which it began. Within `\if` the branches share the slot
//! of a name.

use std::collections::BTreeMap;

use super::section::{Received, Set, Slots, Statement, Step, Transaction, Wanted};
use super::statement::Text;
use crate::expression::{
    Cell, Diagnostic, Expression, Scope, Token, find, name_length, parse, tokens,
};

/// What the reader of a transaction is given for each line.
pub(super) struct Line<'a> {
    /// The file's name in messages.
    pub(super) file: &'a str,
    pub(super) line: usize,
}

impl Line<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// An `\if` without its `\endif` so far.
#[derive(Clone)]
struct OpenIf {
    line: usize,
    /// The condition of the last branch, which does not know yet where the next one begins; `None` after `\else`.
    branch: Option<usize>,
    /// The ends of branches, which do not know yet where the `\endif` is.
    jumps: Vec<usize>,
}

/// A transaction that is being read.
#[derive(Clone, Default)]
pub(super) struct Body {
    pub(super) scope: Scope,
    pub(super) sets: Vec<Set>,
    pub(super) statements: Vec<Statement>,
    steps: Vec<Step>,
    results: Vec<Received>,
    /// Whether there was a command that makes the order of steps matter.
    is_scripted: bool,
    open: Vec<OpenIf>,
    /// The line of a pipeline without its end so far, and how many `\if` were open there.
    pipeline: Option<(usize, usize)>,
    sleeps: usize,
    /// The slots of the names that the outermost `\if` may set, and the step that gives them their values before it.
    shared: BTreeMap<String, usize>,
    kept_at: usize,
}

impl Body {
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Whether it has anything but variables.
    pub(super) fn first_line(&self) -> Option<usize> {
        self.statements.first().map(|statement| statement.text.line)
    }

    pub(super) fn is_scripted(&self) -> bool {
        self.is_scripted
    }

    /// `\set name expression`
    pub(super) fn set(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        text: &str,
    ) -> Result<(), Diagnostic> {
        let (name, expression) = text.split_at(name_length(text));
        let expression = self.expression(slots, at, expression)?;
        if self.open.is_empty() && matches!(expression, Expression::Constant(_)) {
            self.scope.insert(name.to_owned(), expression);
            return Ok(());
        }
        let is_text = matches!(expression, Expression::Template(_));
        let slot = match self.open.is_empty() {
            true => new_slot(slots),
            false => self.shared_slot(slots, at, name),
        };
        if is_text {
            slots[slot] = Cell::Text(String::new());
        }
        self.scope.insert(name.to_owned(), Expression::Slot(slot));
        let set = Set { place: at.place(), slot, expression };
        if self.is_scripted {
            self.steps.push(Step::Set(set));
        } else {
            self.sets.push(set);
        }
        Ok(())
    }

    /// The slot of a name that a branch sets: one for all branches, which has the value before the `\if` where none does.
    fn shared_slot(&mut self, slots: &mut Slots, at: &Line<'_>, name: &str) -> usize {
        if let Some(slot) = self.shared.get(name) {
            return *slot;
        }
        let slot = new_slot(slots);
        let before = self.scope.get(name).cloned();
        let expression = before.unwrap_or(Expression::Constant(Cell::Null));
        if let Some(Step::Keep(sets)) = self.steps.get_mut(self.kept_at) {
            sets.push(Set { place: at.place(), slot, expression });
        }
        self.shared.insert(name.to_owned(), slot);
        self.scope.insert(name.to_owned(), Expression::Slot(slot));
        slot
    }

    pub(super) fn statement(
        &mut self,
        slots: &mut Slots,
        file: &str,
        text: Text,
    ) -> Result<(), Diagnostic> {
        let mut parameters = Vec::new();
        for (name, line) in &text.parameters {
            match self.variable(slots, &Line { file, line: *line }, name)? {
                Expression::Slot(slot) => parameters.push(slot),
                Expression::Constant(cell) => {
                    parameters.push(slots.len());
                    slots.push(cell);
                }
                // Variables are slots or constants only.
                _ => {
                    return Err(Diagnostic::new(*line, format!("`{name}` has no value"), "set it"));
                }
            }
        }
        let place = format!("{file}:{}", text.line);
        self.steps.push(Step::Statement(self.statements.len()));
        self.statements.push(Statement { place, verb: text.verb(), parameters, text });
        Ok(())
    }

    /// `\gset [prefix]` or `\aset [prefix]`: the columns of the statement before it become variables.
    pub(super) fn receive(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        (word, prefix): (&str, &str),
    ) -> Result<(), Diagnostic> {
        let Some(Step::Statement(number)) = self.steps.last() else {
            let help = format!("put \\{word} behind a statement, in the place of its ;");
            return Err(Diagnostic::new(at.line, format!("\\{word} without a statement"), help));
        };
        if prefix.bytes().any(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_')) {
            let help = format!("write \\{word}, or \\{word} prefix_");
            return Err(Diagnostic::new(at.line, format!("\\{word} {prefix}"), help));
        }
        if self.pipeline.is_some() {
            let help = "put the statement before \\startpipeline or behind \\endpipeline";
            return Err(Diagnostic::new(at.line, format!("\\{word} in a pipeline"), help));
        }
        let number = *number;
        self.steps.pop();
        self.is_scripted = true;
        // Any variable that has such a name may be a column. It keeps its value if it is none.
        let names: Vec<String> =
            self.scope.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
        let mut received = Vec::new();
        for name in names {
            let slot = match self.open.is_empty() {
                false => self.shared_slot(slots, at, &name),
                true => {
                    let slot = new_slot(slots);
                    let expression = find(&self.scope, &name, at.line)?;
                    self.steps.push(Step::Set(Set { place: at.place(), slot, expression }));
                    self.scope.insert(name.clone(), Expression::Slot(slot));
                    slot
                }
            };
            received.push((name[prefix.len()..].to_owned(), slot));
        }
        self.steps.push(Step::Receive(number, self.results.len()));
        self.results.push(Received {
            place: at.place(),
            prefix: prefix.to_owned(),
            is_optional: word == "aset",
            slots: received,
            wanted: Vec::new(),
        });
        Ok(())
    }

    /// A variable that was set before, or else one that a `\gset` above may give.
    fn variable(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        name: &str,
    ) -> Result<Expression, Diagnostic> {
        let found = find(&self.scope, name, at.line);
        let may_give = |it: &Received| name.len() > it.prefix.len() && name.starts_with(&it.prefix);
        if found.is_ok() || !self.results.iter().any(may_give) {
            return found;
        }
        let slot = new_slot(slots);
        slots[slot] = Cell::Null;
        // A turn does not begin with the value of the one before.
        let expression = Expression::Constant(Cell::Null);
        self.sets.push(Set { place: at.place(), slot, expression });
        for received in self.results.iter_mut().filter(|it| may_give(it)) {
            let column = name[received.prefix.len()..].to_owned();
            received.slots.push((column, slot));
            received.wanted.push(Wanted { slot, name: name.to_owned(), place: at.place() });
        }
        self.scope.insert(name.to_owned(), Expression::Slot(slot));
        if !self.open.is_empty() {
            self.shared.insert(name.to_owned(), slot);
        }
        Ok(Expression::Slot(slot))
    }

    fn expression(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        text: &str,
    ) -> Result<Expression, Diagnostic> {
        if !self.results.is_empty() {
            for token in tokens(text, at.line)? {
                if let Token::Variable(name) = token {
                    self.variable(slots, at, &name)?;
                }
            }
        }
        parse(text, &self.scope, at.line)
    }

    /// `\if`, `\elif`, `\else` and `\endif`.
    pub(super) fn condition(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        (word, text): (&str, &str),
    ) -> Result<(), Diagnostic> {
        let takes_expression = matches!(word, "if" | "elif");
        if takes_expression == text.is_empty() {
            let help = if takes_expression { "write an expression" } else { "leave it out" };
            return Err(Diagnostic::new(at.line, format!("\\{word} {text}").trim_end(), help));
        }
        if word == "if" {
            self.is_scripted = true;
            if self.open.is_empty() {
                self.shared.clear();
                self.kept_at = self.steps.len();
                self.steps.push(Step::Keep(Vec::new()));
            }
            let branch = self.branch(slots, at, text)?;
            self.open.push(OpenIf { line: at.line, branch: Some(branch), jumps: Vec::new() });
            return Ok(());
        }
        self.no_pipeline(self.open.len().max(1))?;
        let Some(mut open) = self.open.pop() else {
            let message = format!("\\{word} without an \\if");
            return Err(Diagnostic::new(at.line, message, "begin with \\if expression"));
        };
        if word == "endif" {
            let end = self.steps.len();
            let unfinished = open.jumps.into_iter().chain(open.branch);
            unfinished.for_each(|step| self.steps[step].lead_to(end));
            return Ok(());
        }
        let Some(branch) = open.branch else {
            let message = format!("\\{word} after the \\else of the \\if in line {}", open.line);
            return Err(Diagnostic::new(at.line, message, "put it before \\else"));
        };
        open.jumps.push(self.steps.len());
        self.steps.push(Step::Jump(0));
        let next = self.steps.len();
        self.steps[branch].lead_to(next);
        open.branch = match word {
            "elif" => Some(self.branch(slots, at, text)?),
            _ => None,
        };
        self.open.push(open);
        Ok(())
    }

    fn branch(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        text: &str,
    ) -> Result<usize, Diagnostic> {
        let condition = self.expression(slots, at, text)?;
        self.steps.push(Step::Branch { place: at.place(), condition, otherwise: 0 });
        Ok(self.steps.len() - 1)
    }

    /// `\sleep number [us|ms|s]`
    pub(super) fn sleep(
        &mut self,
        slots: &mut Slots,
        at: &Line<'_>,
        text: &str,
    ) -> Result<(), Diagnostic> {
        let wrong = || {
            let help = "write \\sleep 10 ms, with a number or a :variable, and us, ms or s";
            Diagnostic::new(at.line, format!("\\sleep {text}").trim_end(), help)
        };
        let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let (number, unit) = match text.split_once(char::is_whitespace) {
            Some((number, unit)) => (number, unit.trim()),
            // pgbench takes the unit without a blank too.
            None if !text.starts_with(':') => (number, &text[number.len()..]),
            None => (text, ""),
        };
        let unit_ns = match unit.to_ascii_lowercase().as_str() {
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" | "" => 1_000_000_000,
            _ => return Err(wrong()),
        };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty();
        let is_variable = number
            .strip_prefix(':')
            .is_some_and(|it| name_length(it) == it.len() && !it.is_empty());
        if !is_number && !is_variable {
            return Err(wrong());
        }
        let count = self.expression(slots, at, number)?;
        self.is_scripted = true;
        let number = self.sleeps;
        self.sleeps += 1;
        self.steps.push(Step::Sleep { place: at.place(), number, count, unit_ns });
        Ok(())
    }

    /// `\startpipeline`, `\syncpipeline` and `\endpipeline`.
    pub(super) fn pipeline(
        &mut self,
        at: &Line<'_>,
        (word, rest): (&str, &str),
    ) -> Result<(), Diagnostic> {
        if !rest.is_empty() {
            return Err(Diagnostic::new(at.line, format!("\\{word} {rest}"), "leave it out"));
        }
        let step = match (word, self.pipeline) {
            ("startpipeline", None) => {
                self.pipeline = Some((at.line, self.open.len()));
                Step::StartPipeline
            }
            ("startpipeline", Some((line, _))) => {
                let message = format!("\\{word} in the pipeline that begins in line {line}");
                return Err(Diagnostic::new(at.line, message, "end that with \\endpipeline"));
            }
            (_, None) => {
                let message = format!("\\{word} without a pipeline");
                return Err(Diagnostic::new(at.line, message, "begin it with \\startpipeline"));
            }
            ("syncpipeline", Some(_)) => Step::SyncPipeline,
            (_, Some((_, depth))) => {
                if depth != self.open.len() {
                    let help = "begin and end a pipeline in the same branch";
                    return Err(Diagnostic::new(at.line, format!("\\{word} within \\if"), help));
                }
                self.pipeline = None;
                Step::EndPipeline
            }
        };
        self.is_scripted = true;
        self.steps.push(step);
        Ok(())
    }

    /// Refuses a pipeline that goes on where it must have ended.
    fn no_pipeline(&self, depth: usize) -> Result<(), Diagnostic> {
        match self.pipeline {
            Some((line, begun)) if begun >= depth => {
                let message = "a \\startpipeline without its \\endpipeline";
                Err(Diagnostic::new(line, message, "end it with \\endpipeline, in the same branch"))
            }
            _ => Ok(()),
        }
    }

    /// The transaction that was read.
    ///
    /// # Errors
    /// An `\if` or a pipeline that has not ended.
    pub(super) fn finish(self, name: &str, weight: u64) -> Result<Transaction, Diagnostic> {
        if let Some(open) = self.open.last() {
            return Err(Diagnostic::new(
                open.line,
                "an \\if without its \\endif",
                "end it with \\endif",
            ));
        }
        self.no_pipeline(0)?;
        let Self { sets, statements, steps, results, is_scripted, .. } = self;
        let steps = if is_scripted { steps } else { Vec::new() };
        Ok(Transaction { name: name.to_owned(), weight, sets, statements, steps, results })
    }
}

impl Step {
    /// Tells a step that leaves out others where to go on.
    fn lead_to(&mut self, step: usize) {
        if let Self::Jump(to) | Self::Branch { otherwise: to, .. } = self {
            *to = step;
        }
    }
}

fn new_slot(slots: &mut Slots) -> usize {
    slots.push(Cell::Int(0));
    slots.len() - 1
}
