//! One SQL statement: its text between parameters, its kind and its name.

use measure::OperationKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) line: usize,
    /// The text before, between and after the parameters: one part more than there are parameters.
    parts: Vec<String>,
    pub(super) parameters: Vec<(String, usize)>,
    /// Whether a `?` is outside of quotes, which only some systems have as an operator.
    pub(super) has_question: bool,
}

impl Text {
    pub(super) fn new(line: usize) -> Self {
        Self { line, parts: vec![String::new()], parameters: Vec::new(), has_question: false }
    }

    pub(super) fn push(&mut self, text: &str) {
        if let Some(last) = self.parts.last_mut() {
            last.push_str(text);
        }
    }

    fn last_letters(&self) -> impl Iterator<Item = char> {
        self.parts.last().map_or("", String::as_str).chars().rev()
    }

    /// Whether what follows would belong to a name.
    pub(super) fn ends_in_name(&self) -> bool {
        self.last_letters().next().is_some_and(|last| last.is_alphanumeric() || last == '_')
    }

    /// Whether a text that follows has backslashes with a meaning: `E'...'`.
    pub(super) fn ends_with_escape_mark(&self) -> bool {
        let mut letters = self.last_letters();
        let is_mark = letters.next().is_some_and(|last| last.eq_ignore_ascii_case(&'e'));
        is_mark && letters.next().is_none_or(|before| !(before.is_alphanumeric() || before == '_'))
    }

    pub(super) fn parameter(&mut self, name: &str, line: usize) {
        self.parameters.push((name.to_owned(), line));
        self.parts.push(String::new());
    }

    pub(super) fn is_blank(&self) -> bool {
        self.parameters.is_empty() && self.parts.iter().all(|part| part.trim().is_empty())
    }

    /// The statement with each parameter replaced by the result of `parameter`.
    pub(super) fn fill(&self, mut parameter: impl FnMut(usize) -> String) -> String {
        let mut text = String::new();
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                text.push_str(&parameter(i - 1));
            }
            text.push_str(part);
        }
        text.trim().to_owned()
    }

    /// The statement with `?` for each parameter, to be looked at.
    pub(super) fn marked(&self) -> String {
        self.fill(|_| "?".to_owned())
    }

    /// The pieces of the statement between its parameters.
    pub(super) fn pieces(&self) -> Vec<&str> {
        let mut pieces: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        if let Some(first) = pieces.first_mut() {
            *first = first.trim_start();
        }
        if let Some(last) = pieces.last_mut() {
            *last = last.trim_end();
        }
        pieces
    }

    pub(super) fn verb(&self) -> Verb {
        let text = self.marked();
        let words: Vec<String> = words(&text).take(200).collect();
        let first = words.first().map_or("", String::as_str);
        let second = words.get(1).map_or("", String::as_str);
        match first {
            "begin" if words.len() == 1 => Verb::Begin,
            "start" if second == "transaction" && words.len() == 2 => Verb::Begin,
            "begin" | "start" => Verb::BeginAs,
            "end" if words.len() == 1 || matches!(second, "transaction" | "work") => Verb::End,
            "commit" | "end" => Verb::Commit,
            "rollback" if second != "to" => Verb::Rollback,
            "insert" | "update" | "delete" | "replace" | "merge" | "truncate" | "load" => {
                Verb::Write
            }
            "with" if words.iter().any(|word| is_writing(word)) => Verb::Write,
            "select" | "with" | "values" | "table" | "show" | "explain" | "describe" | "pragma" => {
                Verb::Read
            }
            _ => Verb::Other,
        }
    }

    /// A name for its operation: the verb and the first table, such as `update_accounts`.
    pub(super) fn name(&self) -> String {
        let text = self.marked();
        let words: Vec<String> = words(&text).take(200).collect();
        let first = words.first().map_or("statement", String::as_str);
        let after = match first {
            "insert" | "replace" | "merge" => "into",
            "update" => "update",
            "select" | "delete" | "with" => "from",
            _ => return first.to_owned(),
        };
        let table = words.iter().skip_while(|word| *word != after).nth(1);
        table.map_or_else(|| first.to_owned(), |table| format!("{first}_{table}"))
    }
}

fn is_writing(word: &str) -> bool {
    matches!(word, "insert" | "update" | "delete" | "replace" | "merge")
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Starts a transaction without options; the system's own statement is used instead.
    Begin,
    /// Starts a transaction with options of its own.
    BeginAs,
    Commit,
    /// PostgreSQL's synonym of COMMIT, which not every system supports.
    End,
    Rollback,
    Read,
    Write,
    Other,
}

impl Verb {
    /// Whether a transaction is open once such a statement has succeeded.
    pub(super) fn leads(self, is_in_transaction: &mut bool) {
        match self {
            Self::Begin | Self::BeginAs => *is_in_transaction = true,
            Self::Commit | Self::End | Self::Rollback => *is_in_transaction = false,
            Self::Read | Self::Write | Self::Other => {}
        }
    }

    pub(super) fn kind(self) -> OperationKind {
        match self {
            Self::Read => OperationKind::Read,
            Self::Write => OperationKind::Write,
            Self::Begin
            | Self::BeginAs
            | Self::Commit
            | Self::End
            | Self::Rollback
            | Self::Other => OperationKind::Other,
        }
    }
}
