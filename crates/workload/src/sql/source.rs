//! Splits a file into SQL statements and backslash commands.

use super::statement::Text;
use crate::expression::{Diagnostic, name_length};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A line that begins with a backslash.
    Command { line: usize, word: String, rest: String },
    /// SQL up to a semicolon, without the semicolon.
    Statement(Text),
}

/// Splits a file. A text in quotes is that of standard SQL; a file that is none in this way may be one where a backslash
/// takes the meaning of a quote away, as MySQL reads it.
///
/// # Errors
/// Unterminated quotes and comments.
pub(super) fn split(text: &str) -> Result<Vec<Item>, Diagnostic> {
    let text = text.trim_start_matches('\u{feff}');
    split_with(text, false).or_else(|diagnostic| split_with(text, true).map_err(|_| diagnostic))
}

fn split_with(text: &str, escapes: bool) -> Result<Vec<Item>, Diagnostic> {
    let mut scanner = Scanner { rest: text, line: 1, escapes };
    let mut items = Vec::new();
    loop {
        scanner.skip_blank()?;
        if scanner.rest.is_empty() {
            return Ok(items);
        }
        if scanner.rest.starts_with('\\') {
            items.push(scanner.command());
        } else if let Some(statement) = scanner.statement()? {
            items.push(Item::Statement(statement));
        }
    }
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    /// Whether a backslash within quotes takes the next character with it.
    escapes: bool,
}

impl<'a> Scanner<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        self.line += taken.matches('\n').count();
        taken
    }

    /// Takes the text up to and including `end`; `None` if it has no `end`.
    fn take_through(&mut self, skip: usize, end: &str) -> Option<&'a str> {
        let at = self.rest.get(skip..)?.find(end)?;
        Some(self.take(skip + at + end.len()))
    }

    fn take_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.take(end)
    }

    /// Skips white space and comments between statements.
    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.rest.starts_with("--") || self.rest.starts_with('#') {
                self.take_line();
            } else if self.rest.starts_with("/*") && !self.rest.starts_with("/*!") {
                self.block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn block_comment(&mut self) -> Result<&'a str, Diagnostic> {
        let line = self.line;
        self.take_through(2, "*/")
            .ok_or_else(|| Diagnostic::new(line, "a comment does not end", "end it with */"))
    }

    /// A command; a backslash at the end of a line continues the command in the next line.
    fn command(&mut self) -> Item {
        let line = self.line;
        self.take(1);
        let mut text = String::new();
        loop {
            let part = self.take_line().trim_end();
            let Some(carried) = part.strip_suffix('\\') else {
                text.push_str(part);
                break;
            };
            text.push_str(carried);
            text.push(' ');
            self.take(self.rest.len().min(1));
        }
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        Item::Command { line, word: word.to_owned(), rest: rest.trim().to_owned() }
    }

    /// A statement up to its semicolon or the end of the file; `None` for an empty statement.
    fn statement(&mut self) -> Result<Option<Text>, Diagnostic> {
        let mut statement = Text::new(self.line);
        loop {
            let line = self.line;
            let Some(next) = self.rest.chars().next() else { break };
            match next {
                ';' => {
                    self.take(1);
                    break;
                }
                '\'' | '"' | '`' => {
                    let escapes = self.escapes || next == '\'' && statement.ends_with_escape_mark();
                    statement.push(self.quoted(next, escapes)?);
                }
                '$' if let Some(tag) = dollar_tag(self.rest)
                    && !statement.ends_in_name() =>
                {
                    statement.push(self.dollar_quoted(tag)?);
                }
                '-' if self.rest.starts_with("--") => {
                    self.take_line();
                }
                '#' if !self.rest[1..].starts_with(['>', '-']) => {
                    self.take_line();
                }
                '/' if self.rest.starts_with("/*") => statement.push(self.block_comment()?),
                ':' => self.colon(&mut statement),
                '?' => {
                    statement.has_question = true;
                    statement.push(self.take(1));
                }
                '\\' if keeps_result(self.rest) => break,
                '\\' => {
                    if let Some(diagnostic) = self.command_within(self.rest, line) {
                        return Err(diagnostic);
                    }
                    statement.push(self.take(1));
                }
                '\n' if keeps_result(self.rest.trim_start()) => {
                    self.skip_blank()?;
                    break;
                }
                '\n' if self.rest[1..].trim_start_matches([' ', '\t']).starts_with('\\') => {
                    if let Some(diagnostic) = self.command_within(self.rest.trim_start(), line + 1)
                    {
                        return Err(diagnostic);
                    }
                    let message = format!(
                        "the statement that begins in line {} has not ended before a command",
                        statement.line
                    );
                    return Err(Diagnostic::new(line + 1, message, "end the statement with ;"));
                }
                other => statement.push(self.take(other.len_utf8())),
            }
        }
        Ok((!statement.is_blank()).then_some(statement))
    }

    /// The error for a command of another program that ends a statement, as psql's `\G` does.
    fn command_within(&self, text: &str, line: usize) -> Option<Diagnostic> {
        let word = text.strip_prefix('\\')?;
        if word.starts_with(';') {
            let help = "end each statement with ; alone: they are sent one by one";
            return Some(Diagnostic::new(line, "\\; is not offered", help));
        }
        Diagnostic::of_other_programs(line, &word[..name_length(word)])
    }

    /// Text in quotes; a doubled quote inside is read as two adjacent texts.
    fn quoted(&mut self, quote: char, escapes: bool) -> Result<&'a str, Diagnostic> {
        let line = self.line;
        let has_escapes = escapes && quote != '`';
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, letter)| {
            let ends = !is_escaped && *letter == quote;
            is_escaped = has_escapes && !is_escaped && *letter == '\\';
            ends
        });
        end.map(|(at, _)| self.take(at + 1)).ok_or_else(|| {
            let help = format!("end it with {quote}; within it, write {quote}{quote}");
            Diagnostic::new(line, format!("a text that begins with {quote} does not end"), help)
        })
    }

    /// A text between two equal tags, such as `$$` or `$body$`, in which nothing has a meaning.
    fn dollar_quoted(&mut self, tag: &str) -> Result<&'a str, Diagnostic> {
        let line = self.line;
        self.take_through(tag.len(), tag).ok_or_else(|| {
            let message = format!("a text that begins with {tag} does not end");
            Diagnostic::new(line, message, format!("end it with {tag}"))
        })
    }

    /// A parameter, or a colon with another meaning, as in `x::int` and `@a := 1`.
    fn colon(&mut self, statement: &mut Text) {
        let line = self.line;
        if self.rest.starts_with("::") {
            statement.push(self.take(2));
            return;
        }
        let name_end = self.rest[1..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(self.rest.len(), |end| end + 1);
        let name = &self.rest[1..name_end];
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            statement.parameter(name, line);
            self.take(name_end);
        } else {
            statement.push(self.take(1));
        }
    }
}

/// Whether a command begins here that ends a statement and keeps its result, as in pgbench.
fn keeps_result(text: &str) -> bool {
    let word = text.strip_prefix('\\').map(|rest| &rest[..name_length(rest)]);
    matches!(word, Some("gset" | "aset"))
}

/// The tag of a text between dollars that begins here; `$1` is none.
fn dollar_tag(text: &str) -> Option<&str> {
    let name = name_length(text.get(1..)?);
    let is_tag = text.get(1 + name..)?.starts_with('$');
    is_tag.then(|| &text[..name + 2])
}
