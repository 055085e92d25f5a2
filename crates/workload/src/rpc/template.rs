//! Texts with `${expression}` parts that are drawn for each request: bodies, or messages in JSON.

use std::fmt::Write as _;
use std::sync::Arc;

use plan::OptionReader;

use crate::expression::{
    CLIENT_ID, Cell, Diagnostic, Expression, Scope, Token, Variables, append_template, parse,
    tokens,
};
use crate::random::Random;

/// The variables of a template: the client, and the number of its request, from 0.
const CLIENT: &str = "client_id";
const REQUEST: &str = "request";
/// The place of [`REQUEST`], after that of the client.
const REQUEST_SLOT: usize = CLIENT_ID + 1;
/// A part that is another UUID for each request.
const UUID: &str = "uuid()";

/// A text with `${expression}` parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
    /// The option that gives it, for messages.
    option: &'static str,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// An expression and its line, from 1.
    Drawn(Expression, usize),
    Uuid,
}

impl Template {
    /// Reads the template that an option gives, and reports what is wrong with it.
    pub(super) fn read(reader: &mut OptionReader<'_>, option: &'static str, text: &str) -> Self {
        Self::parse(option, text).unwrap_or_else(|wrong| {
            let message = format!("{option}:{}: {}", wrong.line, wrong.message);
            reader.reject(option, message, wrong.help);
            Self { option, parts: Vec::new() }
        })
    }

    /// Reads the template of an option. `$${` stands for the text `${`.
    ///
    /// # Errors
    /// The first part that is no expression, with its line.
    pub(super) fn parse(option: &'static str, text: &str) -> Result<Self, Diagnostic> {
        let (mut parts, mut literal) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = after;
                continue;
            }
            literal.push_str(before);
            let line = 1 + text[..text.len() - after.len()].matches('\n').count();
            let Some(end) = end_of_expression(after) else {
                let help = "end the expression with }; write $${ for the text ${";
                return Err(Diagnostic::new(line, "`${` without `}`", help));
            };
            parts.push(Part::Text(std::mem::take(&mut literal)));
            parts.push(match after[..end].trim() {
                UUID => Part::Uuid,
                text => Part::Drawn(expression(text, line)?, line),
            });
            rest = &after[end + 1..];
        }
        literal.push_str(rest);
        parts.push(Part::Text(literal));
        Ok(Self { option, parts })
    }

    /// The text, if it has no parts.
    pub(super) fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(super) fn draws(&self) -> usize {
        self.parts.iter().filter(|part| !matches!(part, Part::Text(_))).count()
    }

    pub(super) fn draws_in_words(&self) -> String {
        match self.draws() {
            1 => "1 part that is drawn for each request".to_owned(),
            parts => format!("{parts} parts that are drawn for each request"),
        }
    }

    fn append(&self, variables: &mut Variables, drawn: &mut String) -> Result<(), String> {
        for part in &self.parts {
            match part {
                Part::Text(text) => drawn.push_str(text),
                Part::Uuid => append_uuid(&mut variables.random, drawn),
                Part::Drawn(Expression::Template(pattern), _) => {
                    append_template(pattern, &mut variables.random, drawn);
                }
                Part::Drawn(expression, line) => {
                    let computed = variables.compute(expression);
                    let cell =
                        computed.map_err(|wrong| format!("{}:{line}: {wrong}", self.option))?;
                    // A text takes everything.
                    let _ = write!(drawn, "{cell}");
                }
            }
        }
        Ok(())
    }
}

/// Where an expression ends: at the first `}` that is not in a text of its own.
fn end_of_expression(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.find(|letter| {
        is_quoted ^= letter == '\'';
        letter == '}' && !is_quoted
    })
}

fn expression(text: &str, line: usize) -> Result<Expression, Diagnostic> {
    for token in tokens(text, line)? {
        if let Token::Variable(name) = token
            && name != CLIENT
            && name != REQUEST
        {
            let help = format!("the variables of a template are :{CLIENT} and :{REQUEST}");
            return Err(Diagnostic::new(line, format!("unknown variable `{name}`"), help));
        }
    }
    let scope = [(CLIENT, CLIENT_ID), (REQUEST, REQUEST_SLOT)]
        .map(|(name, slot)| (name.to_owned(), Expression::Slot(slot)));
    parse(text, &Scope::from(scope), line)
}

/// A random UUID (RFC 9562, section 5.4).
fn append_uuid(random: &mut Random, text: &mut String) {
    let bits = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
    let bits = bits & !(0xf << 76) & !(0b11 << 62) | 0x4 << 76 | 0b10 << 62;
    let hex = format!("{bits:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    text.push_str(&parts.join("-"));
}

/// The text of one client's current request.
pub(super) struct DrawnText {
    template: Arc<Template>,
    variables: Variables,
    text: String,
    trouble: Option<String>,
}

impl DrawnText {
    /// The texts of client `index` of a load whose clients draw from this seed.
    pub(super) fn new(template: &Arc<Template>, index: usize, seed: u64) -> Self {
        Self::with_random(template, index, Random::of_part(seed, &[index as u64]))
    }

    /// The texts of client `index`, which draws from these numbers.
    pub(super) fn with_random(template: &Arc<Template>, index: usize, random: Random) -> Self {
        // The first draw makes it request 0.
        let slots = vec![Cell::Int(index as i64), Cell::Int(-1)];
        let variables = Variables { slots, random };
        Self { template: Arc::clone(template), variables, text: String::new(), trouble: None }
    }

    /// Draws the next text, into the memory of the last one.
    pub(super) fn draw(&mut self) {
        self.text.clear();
        if let Cell::Int(request) = &mut self.variables.slots[REQUEST_SLOT] {
            *request += 1;
        }
        self.trouble = self.template.append(&mut self.variables, &mut self.text).err();
    }

    /// The text that was drawn.
    ///
    /// # Errors
    /// The expression that has no value, such as a division by 0.
    pub(super) fn text(&self) -> Result<&str, String> {
        match &self.trouble {
            None => Ok(&self.text),
            Some(trouble) => Err(trouble.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str, index: usize, seed: u64, count: usize) -> Vec<String> {
        let template = Arc::new(Template::parse("template", text).unwrap());
        let mut drawn = DrawnText::new(&template, index, seed);
        let mut draw = || {
            drawn.draw();
            drawn.text().unwrap().to_owned()
        };
        (0..count).map(|_| draw()).collect()
    }

    #[test]
    fn parts_are_drawn_and_the_rest_is_kept() {
        let text =
            "{\"id\": ${1 + :client_id * 2}, \"s\": \"${'a}' }\", \"f\": ${7 / 2.0}}\n$${x} $ é";
        let expected = "{\"id\": 15, \"s\": \"a}\", \"f\": 3.5}\n${x} $ é";
        assert_eq!(bodies(text, 7, 1, 2), [expected, expected]);
        assert_eq!(bodies("", 0, 1, 1), [""]);
    }

    #[test]
    fn requests_have_numbers_and_uuids() {
        let drawn = bodies("${:client_id}/${:request} ${ uuid() }", 3, 1, 3);
        let uuids: std::collections::HashSet<&str> = drawn.iter().map(|it| &it[4..]).collect();
        assert_eq!(uuids.len(), 3);
        for (number, body) in drawn.iter().enumerate() {
            assert_eq!(&body[..4], format!("3/{number} "));
            let lengths: Vec<usize> = body[4..].split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{body}");
            assert!(body[18..].starts_with('4') && "89ab".contains(&body[23..24]), "{body}");
        }
        assert_eq!(bodies("${uuid()}", 0, 7, 1), bodies("${uuid()}", 0, 7, 1), "the seed decides");
    }

    #[test]
    fn each_client_has_draws_of_its_own_that_the_seed_repeats() {
        let text = "${random(1, 1000000)} ${template('###-@@')} ${random_zipfian(1, 9, 1)}";
        let first = bodies(text, 0, 42, 3);
        assert_eq!(bodies(text, 0, 42, 3), first);
        assert!(first[0] != first[1] && first[1] != first[2], "{first:?}");
        assert_ne!(bodies(text, 1, 42, 1)[0], first[0]);
        assert_ne!(bodies(text, 0, 43, 1)[0], first[0]);
        for body in first {
            let words: Vec<&str> = body.split(' ').collect();
            assert!((1..=1_000_000).contains(&words[0].parse().unwrap()), "{body}");
            let (digits, letters) = words[1].split_once('-').unwrap();
            assert!(digits.len() == 3 && digits.bytes().all(|it| it.is_ascii_digit()), "{body}");
            assert!(letters.len() == 2 && letters.bytes().all(|it| it.is_ascii_lowercase()));
            assert!((1..=9).contains(&words[2].parse().unwrap()), "{body}");
        }
    }

    #[test]
    fn errors_name_their_line_and_the_remedy() {
        let wrong = |text: &str| {
            let Diagnostic { line, message, help } = Template::parse("template", text).unwrap_err();
            format!("{line}: {message} ({help})")
        };
        let texts = [
            wrong("a\n${random(1, 2)}\n${randum(1, 2)}"),
            wrong("${random(2, 1)}"),
            wrong("\n${'it''s}"),
            wrong("${:n + 1}"),
            wrong("${1 / 0}"),
            wrong("${}"),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn an_expression_without_a_value_is_told_with_its_line() {
        let template = Template::parse("message", "x\n${1 / random(0, 0)}").unwrap();
        let mut drawn = DrawnText::new(&Arc::new(template), 0, 1);
        drawn.draw();
        assert_eq!(drawn.text(), Err("message:2: division by 0".to_owned()));
    }
}
