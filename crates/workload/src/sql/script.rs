//! Combines a file's statements and commands into transactions and sections.

use std::collections::BTreeMap;

use super::body::{Body, Line};
use super::section::{Script, Setup, Slots};
use super::source::{Item, split};
use super::statement::Text;
use crate::expression::{
    CLIENT_ID, Cell, DEFAULT_SEED, Diagnostic, Expression, HASH_SEED, RANDOM_SEED, Scope, find,
    name_length,
};

pub(super) struct ParseContext<'a> {
    /// The file's name in messages.
    pub(super) file: &'a str,
    /// The name of a transaction that has no name of its own.
    pub(super) stem: &'a str,
    /// Variables that the plan sets; they override `\set` before the first section of the file.
    pub(super) variables: &'a BTreeMap<String, Cell>,
}

/// Reads a file; appends slots for new variables to `slots`.
///
/// # Errors
/// The first error.
pub(super) fn read(
    text: &str,
    reading: &ParseContext<'_>,
    slots: &mut Slots,
) -> Result<Script, Diagnostic> {
    let mut builder = Builder::new(reading, slots);
    for item in split(text)? {
        match item {
            Item::Statement(statement) => builder.statement(statement)?,
            Item::Command { line, word, rest } => builder.command(line, &word, &rest)?,
        }
    }
    builder.finish(text.lines().count().max(1))
}

/// The section of the file that receives statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Before any section: one transaction, or variables for several.
    Head,
    Transaction,
    Prepare,
    Verify,
    Cleanup,
}

const COMMANDS: [&str; 15] = [
    "set",
    "gset",
    "aset",
    "if",
    "elif",
    "else",
    "endif",
    "sleep",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
    "transaction",
    "prepare",
    "verify",
    "cleanup",
];
/// The slots of variables that each client has.
const OWN_VARIABLES: [(&str, usize); 3] =
    [("client_id", CLIENT_ID), ("random_seed", RANDOM_SEED), (DEFAULT_SEED, HASH_SEED)];

struct Builder<'a> {
    reading: &'a ParseContext<'a>,
    slots: &'a mut Slots,
    script: Script,
    section: Section,
    /// The head, with whose variables every transaction begins.
    head: Body,
    /// The name and the weight of the current transaction.
    current: Option<(String, u64, Body)>,
}

impl<'a> Builder<'a> {
    fn new(reading: &'a ParseContext<'a>, slots: &'a mut Slots) -> Self {
        let own = OWN_VARIABLES.map(|(name, slot)| (name.to_owned(), Expression::Slot(slot)));
        let mut scope = Scope::from(own);
        // That of pgbench for scripts of its users.
        scope.insert("scale".to_owned(), Expression::Constant(Cell::Int(1)));
        for (name, cell) in reading.variables {
            scope.insert(name.clone(), Expression::Constant(cell.clone()));
        }
        let (script, section) = (Script::default(), Section::Head);
        Self { reading, slots, script, section, head: Body::new(scope), current: None }
    }

    fn command(&mut self, line: usize, word: &str, rest: &str) -> Result<(), Diagnostic> {
        let section = match word {
            "set" => return self.set(line, rest),
            "gset" | "aset" | "if" | "elif" | "else" | "endif" | "sleep" | "startpipeline"
            | "syncpipeline" | "endpipeline" => {
                return self.step(line, word, rest);
            }
            "transaction" => return self.transaction(line, rest),
            "prepare" => Section::Prepare,
            "verify" => Section::Verify,
            "cleanup" => Section::Cleanup,
            _ => {
                let unknown = || Diagnostic::unknown(line, "command", word, &COMMANDS);
                return Err(Diagnostic::of_other_programs(line, word).unwrap_or_else(unknown));
            }
        };
        if !rest.is_empty() {
            let help = "statements follow in the next lines";
            return Err(Diagnostic::new(line, format!("`{rest}` after \\{word}"), help));
        }
        self.end_transaction()?;
        self.section = section;
        Ok(())
    }

    /// What takes commands and statements of the current section: a transaction, or the head; `None` in those of setup.
    fn body(&mut self) -> Option<(&mut Body, &mut Slots)> {
        let body = match self.section {
            Section::Head => Some(&mut self.head),
            Section::Transaction => self.current.as_mut().map(|(_, _, body)| body),
            Section::Prepare | Section::Verify | Section::Cleanup => None,
        };
        body.map(|body| (body, &mut *self.slots))
    }

    /// `\set name expression`
    fn set(&mut self, line: usize, rest: &str) -> Result<(), Diagnostic> {
        let length = name_length(rest);
        let (name, expression) = rest.split_at(length);
        if length == 0 || !expression.starts_with(char::is_whitespace) {
            let help = "write \\set name expression, such as \\set id random(1, 1000)";
            return Err(Diagnostic::new(line, format!("\\set {rest}"), help));
        }
        if self.section == Section::Head && self.reading.variables.contains_key(name) {
            return Ok(());
        }
        let at = Line { file: self.reading.file, line };
        match self.body() {
            Some((body, slots)) => body.set(slots, &at, rest),
            None => {
                let help = "set constants at the head of the file, before the first section";
                Err(Diagnostic::new(line, "\\set in a section of setup", help))
            }
        }
    }

    /// A command that is a step of a transaction.
    fn step(&mut self, line: usize, word: &str, rest: &str) -> Result<(), Diagnostic> {
        let at = Line { file: self.reading.file, line };
        let Some((body, slots)) = self.body() else {
            let help = "it belongs to a transaction";
            return Err(Diagnostic::new(line, format!("\\{word} in a section of setup"), help));
        };
        match word {
            "gset" | "aset" => body.receive(slots, &at, (word, rest)),
            "sleep" => body.sleep(slots, &at, rest),
            "startpipeline" | "syncpipeline" | "endpipeline" => body.pipeline(&at, (word, rest)),
            _ => body.condition(slots, &at, (word, rest)),
        }
    }

    /// `\transaction name [weight]`
    fn transaction(&mut self, line: usize, rest: &str) -> Result<(), Diagnostic> {
        let first = self.head.first_line();
        if first.is_some() || self.head.is_scripted() {
            let help = "put it after a \\transaction line";
            let message = "a statement before the first \\transaction";
            return Err(Diagnostic::new(first.unwrap_or(line), message, help));
        }
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default();
        let weight = words.next().unwrap_or("1").parse().ok().filter(|weight| *weight > 0);
        let (Some(weight), None, false) = (weight, words.next(), name.is_empty()) else {
            let help =
                "write \\transaction name, or \\transaction name 3 to have it thrice as often";
            return Err(Diagnostic::new(line, format!("\\transaction {rest}"), help));
        };
        self.end_transaction()?;
        self.section = Section::Transaction;
        self.current = Some((name.to_owned(), weight, self.head.clone()));
        Ok(())
    }

    fn end_transaction(&mut self) -> Result<(), Diagnostic> {
        if let Some((name, weight, body)) = self.current.take() {
            self.script.transactions.push(body.finish(&name, weight)?);
        }
        Ok(())
    }

    fn statement(&mut self, text: Text) -> Result<(), Diagnostic> {
        let file = self.reading.file;
        if let Some((body, slots)) = self.body() {
            return body.statement(slots, file, text);
        }
        let setup = self.setup(&text)?;
        match self.section {
            Section::Prepare => self.script.prepare.push(setup),
            Section::Verify => self.script.verify.push(setup),
            _ => self.script.cleanup.push(setup),
        }
        Ok(())
    }

    /// A setup statement with its parameters replaced by their values, which must be constants.
    fn setup(&self, text: &Text) -> Result<Setup, Diagnostic> {
        let mut values = Vec::new();
        for (name, line) in &text.parameters {
            match find(&self.head.scope, name, *line)? {
                Expression::Constant(cell) => values.push(cell.as_sql()),
                _ => {
                    let message = format!("variable `{name}` is not a constant");
                    let help = "setup may use numbers and texts that the head of the file sets";
                    return Err(Diagnostic::new(*line, message, help));
                }
            }
        }
        let place = format!("{}:{}", self.reading.file, text.line);
        Ok(Setup { place, sql: text.fill(|i| values[i].clone()) })
    }

    fn finish(mut self, lines: usize) -> Result<Script, Diagnostic> {
        self.end_transaction()?;
        if self.head.first_line().is_some() || self.head.is_scripted() {
            self.script.transactions.push(self.head.finish(self.reading.stem, 1)?);
        }
        let transactions = &self.script.transactions;
        if transactions.is_empty() {
            let help = "write statements, or \\transaction name and statements after it";
            return Err(Diagnostic::new(lines, "there is no transaction in the file", help));
        }
        if let Some(empty) = transactions.iter().find(|one| one.statements.is_empty()) {
            let message = format!("transaction `{}` has no statement", empty.name);
            return Err(Diagnostic::new(lines, message, "write at least one"));
        }
        Ok(self.script)
    }
}
