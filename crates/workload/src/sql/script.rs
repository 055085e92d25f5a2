//! Combines a file's statements and commands into transactions and sections.

use std::collections::BTreeMap;

use super::section::{Script, Set, Setup, Slots, Statement, Transaction};
use super::source::{Item, split};
use super::statement::Text;
use crate::expression::{CLIENT_ID, Cell, Diagnostic, Expression, Scope, find, name_length, parse};

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

const COMMANDS: [&str; 5] = ["set", "transaction", "prepare", "verify", "cleanup"];

struct Builder<'a> {
    reading: &'a ParseContext<'a>,
    slots: &'a mut Slots,
    script: Script,
    section: Section,
    /// Variables of the head, with which every transaction begins.
    head_scope: Scope,
    head_sets: Vec<Set>,
    head_statements: Vec<Statement>,
    /// Variables of the current transaction.
    scope: Scope,
}

impl<'a> Builder<'a> {
    fn new(reading: &'a ParseContext<'a>, slots: &'a mut Slots) -> Self {
        let mut scope = Scope::new();
        scope.insert("client_id".to_owned(), Expression::Slot(CLIENT_ID));
        for (name, cell) in reading.variables {
            scope.insert(name.clone(), Expression::Constant(cell.clone()));
        }
        Self {
            reading,
            slots,
            script: Script::default(),
            section: Section::Head,
            head_scope: scope,
            head_sets: Vec::new(),
            head_statements: Vec::new(),
            scope: Scope::new(),
        }
    }

    fn command(&mut self, line: usize, word: &str, rest: &str) -> Result<(), Diagnostic> {
        let section = match word {
            "set" => return self.set(line, rest),
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
        self.section = section;
        Ok(())
    }

    /// `\set name expression`
    fn set(&mut self, line: usize, rest: &str) -> Result<(), Diagnostic> {
        let length = name_length(rest);
        let (name, expression) = rest.split_at(length);
        if length == 0 || !expression.starts_with(char::is_whitespace) {
            let help = "write \\set name expression, such as \\set id random(1, 1000)";
            return Err(Diagnostic::new(line, format!("\\set {rest}"), help));
        }
        match self.section {
            Section::Head => {
                if self.reading.variables.contains_key(name) {
                    return Ok(());
                }
                let set = assign(self.reading, self.slots, &mut self.head_scope, line, rest)?;
                self.head_sets.extend(set);
            }
            Section::Transaction => {
                let set = assign(self.reading, self.slots, &mut self.scope, line, rest)?;
                if let Some(transaction) = self.script.transactions.last_mut() {
                    transaction.sets.extend(set);
                }
            }
            Section::Prepare | Section::Verify | Section::Cleanup => {
                let help = "set constants at the head of the file, before the first section";
                return Err(Diagnostic::new(line, "\\set in a section of setup", help));
            }
        }
        Ok(())
    }

    /// `\transaction name [weight]`
    fn transaction(&mut self, line: usize, rest: &str) -> Result<(), Diagnostic> {
        if let Some(statement) = self.head_statements.first() {
            let help = "put it after a \\transaction line";
            let message = "a statement before the first \\transaction";
            return Err(Diagnostic::new(statement.text.line, message, help));
        }
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default();
        let weight = words.next().unwrap_or("1").parse().ok().filter(|weight| *weight > 0);
        let (Some(weight), None, false) = (weight, words.next(), name.is_empty()) else {
            let help =
                "write \\transaction name, or \\transaction name 3 to have it thrice as often";
            return Err(Diagnostic::new(line, format!("\\transaction {rest}"), help));
        };
        self.section = Section::Transaction;
        self.scope = self.head_scope.clone();
        self.script.transactions.push(Transaction {
            name: name.to_owned(),
            weight,
            sets: self.head_sets.clone(),
            statements: Vec::new(),
        });
        Ok(())
    }

    fn statement(&mut self, text: Text) -> Result<(), Diagnostic> {
        match self.section {
            Section::Head => {
                let statement = bind(self.reading, self.slots, &self.head_scope, text)?;
                self.head_statements.push(statement);
            }
            Section::Transaction => {
                let statement = bind(self.reading, self.slots, &self.scope, text)?;
                if let Some(transaction) = self.script.transactions.last_mut() {
                    transaction.statements.push(statement);
                }
            }
            Section::Prepare => self.script.prepare.push(self.setup(&text)?),
            Section::Verify => self.script.verify.push(self.setup(&text)?),
            Section::Cleanup => self.script.cleanup.push(self.setup(&text)?),
        }
        Ok(())
    }

    /// A setup statement with its parameters replaced by their values, which must be constants.
    fn setup(&self, text: &Text) -> Result<Setup, Diagnostic> {
        let mut values = Vec::new();
        for (name, line) in &text.parameters {
            match find(&self.head_scope, name, *line)? {
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
        if !self.head_statements.is_empty() {
            self.script.transactions.push(Transaction {
                name: self.reading.stem.to_owned(),
                weight: 1,
                sets: self.head_sets,
                statements: self.head_statements,
            });
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

/// Reads `name expression` into `scope`. A constant is kept as such. Any other expression gets a slot, a new one for
/// each `\set`, so that all can be evaluated before the transaction begins.
fn assign(
    reading: &ParseContext<'_>,
    slots: &mut Slots,
    scope: &mut Scope,
    line: usize,
    text: &str,
) -> Result<Option<Set>, Diagnostic> {
    let (name, expression) = text.split_at(name_length(text));
    let expression = parse(expression, scope, line)?;
    if matches!(expression, Expression::Constant(_)) {
        scope.insert(name.to_owned(), expression);
        return Ok(None);
    }
    let slot = slots.len();
    let is_text = matches!(expression, Expression::Template(_));
    slots.push(if is_text { Cell::Text(String::new()) } else { Cell::Int(0) });
    scope.insert(name.to_owned(), Expression::Slot(slot));
    let place = format!("{}:{line}", reading.file);
    Ok(Some(Set { place, slot, expression }))
}

/// Finds the slot of each parameter.
fn bind(
    reading: &ParseContext<'_>,
    slots: &mut Slots,
    scope: &Scope,
    text: Text,
) -> Result<Statement, Diagnostic> {
    let mut parameters = Vec::new();
    for (name, line) in &text.parameters {
        match find(scope, name, *line)? {
            Expression::Slot(slot) => parameters.push(slot),
            Expression::Constant(cell) => {
                parameters.push(slots.len());
                slots.push(cell);
            }
            // Variables are slots or constants only.
            _ => return Err(Diagnostic::new(*line, format!("`{name}` has no value"), "set it")),
        }
    }
    let place = format!("{}:{}", reading.file, text.line);
    Ok(Statement { place, verb: text.verb(), parameters, text })
}
