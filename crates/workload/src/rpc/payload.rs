//! The bodies of requests.

use std::fmt;
use std::sync::Arc;

use driver::rpc::UnaryMethod;
use plan::declared::{Number, Text, number_without_default, text};
use plan::{Files, OptionReader};

use super::message::{DrawnMessage, MESSAGE};
use super::message_file::{Bodies, ListedBody, MESSAGES};
use super::template::{DrawnText, Template};

pub(super) const TEXT: Text = text("text", "", "body of requests: a text");
pub(super) const HEX: Text = text("hex", "", "body of requests: bytes in hexadecimal digits");
pub(super) const FILE: Text = text("file", "", "body of requests: the bytes of a file");
pub(super) const SIZE: Number<u64> =
    number_without_default("size", 0..=10 << 20, "body of requests: so many zero bytes");
pub(super) const TEMPLATE: Text = text(
    "template",
    "",
    "body of requests: a text with ${expression} parts that are drawn for each, such as ${random(1, 100)}",
);

/// The body when no option gives one: a protobuf message whose field 1 is "hello".
const HELLO: &[u8] = b"\x0a\x05hello";

/// The bodies of a load's requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Payload {
    /// The same for every request, and what it was made from.
    Fixed(Arc<[u8]>, &'static str),
    /// A text that is drawn for each request.
    Template(Arc<Template>),
    /// A message in JSON that is drawn and encoded for each request.
    Message(Arc<Template>, UnaryMethod),
    /// One of the messages of a file.
    Listed(Bodies),
}

/// The body of one client's current request.
pub(super) enum Body {
    Fixed(Arc<[u8]>),
    Drawn(Box<DrawnText>),
    Message(Box<DrawnMessage>),
    Listed(Box<ListedBody>),
}

impl Payload {
    /// The bodies of client `index` of a load whose clients draw from this seed.
    pub(super) fn body(&self, index: usize, seed: u64) -> Body {
        match self {
            Self::Fixed(body, _) => Body::Fixed(Arc::clone(body)),
            Self::Template(template) => {
                Body::Drawn(Box::new(DrawnText::new(template, index, seed)))
            }
            Self::Message(template, method) => {
                let json = DrawnText::new(template, index, seed);
                Body::Message(Box::new(DrawnMessage::new(json, method.clone())))
            }
            Self::Listed(bodies) => Body::Listed(Box::new(bodies.of_client(index, seed))),
        }
    }
}

impl Body {
    #[inline]
    pub(super) fn draw(&mut self) {
        match self {
            Self::Fixed(_) => {}
            Self::Drawn(text) => text.draw(),
            Self::Message(message) => message.draw(),
            Self::Listed(body) => body.draw(),
        }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// The expression that has no value, or why the message that was drawn is none of its type.
    #[inline]
    pub(super) fn bytes(&self) -> Result<&[u8], String> {
        match self {
            Self::Fixed(body) => Ok(body),
            Self::Drawn(text) => text.text().map(str::as_bytes),
            Self::Message(message) => message.bytes(),
            Self::Listed(body) => Ok(body.bytes()),
        }
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(body, from) => write!(f, "{} bytes {from}", body.len()),
            Self::Template(template) => write!(f, "text with {}", template.draws_in_words()),
            Self::Message(template, _) => {
                write!(f, "a message in JSON with {}", template.draws_in_words())
            }
            Self::Listed(bodies) => write!(f, "{} messages of a file", bodies.len()),
        }
    }
}

/// Reads the options for bodies, of which one at most is given.
pub(super) fn read(reader: &mut OptionReader<'_>, files: &Files) -> Payload {
    let text =
        reader.text(TEXT.name).map(|text| Payload::Fixed(text.into_bytes().into(), "of text"));
    let hex = reader.text(HEX.name).map(|hex| {
        let bytes = read_hex(&hex).unwrap_or_else(|| {
            let help = "write two digits for each byte, such as \"0a0568656c6c6f\"; parts in ${} are \
                        for `template` and `message`";
            reader.reject(HEX.name, "`hex` is not hexadecimal", help);
            Vec::new()
        });
        Payload::Fixed(bytes.into(), "given in hexadecimal")
    });
    let file = reader.text(FILE.name).map(|file| {
        let bytes = files.read(&file).unwrap_or_else(|error| {
            reader.reject(FILE.name, format!("cannot read {file}: {error}"), "check the path");
            Vec::new()
        });
        Payload::Fixed(bytes.into(), "of a file")
    });
    let size = SIZE.read_given(reader);
    let size = size.map(|size| Payload::Fixed(vec![0; size as usize].into(), "of zeros"));
    let template = reader.text(TEMPLATE.name);
    let template = template.map(|text| Template::read(reader, TEMPLATE.name, &text));
    let template = template.map(|template| Payload::Template(template.into()));
    let mut given = [text, hex, file, template, size].into_iter().flatten();
    let first = given.next();
    let messages = [MESSAGE.name, MESSAGES.name].map(|name| reader.is_given(name));
    let others = messages.into_iter().filter(|is_given| *is_given).count();
    if given.next().is_some() || usize::from(first.is_some()) + others > 1 {
        let names = [TEXT.name, HEX.name, FILE.name, TEMPLATE.name, SIZE.name];
        let names = names.into_iter().chain([MESSAGE.name, MESSAGES.name]);
        let last = names.rev().find(|name| reader.is_given(name));
        let message = "several options give the body of requests";
        reader.reject(last.unwrap_or_default(), message, "give one of them");
    }
    first.unwrap_or_else(|| Payload::Fixed(HELLO.into(), "of protobuf (\"hello\" in field 1)"))
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| letter.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits?;
    let is_even = digits.len().is_multiple_of(2);
    is_even.then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    /// The body of these options, or their problems.
    fn described(text: &str) -> Result<String, Vec<String>> {
        let options = Options::parse(text).unwrap();
        let mut reader = options.reader();
        let payload = read(&mut reader, &Files::of("/"));
        let problems = reader.finish().map(|()| payload.to_string());
        problems.map_err(|problems| {
            let told = |problem: plan::Problem| {
                let place = &text[problem.span.unwrap()];
                format!("{place} -> {} ({})", problem.message, problem.help.unwrap())
            };
            problems.into_iter().map(told).collect()
        })
    }

    #[test]
    fn one_option_gives_the_body() {
        assert_eq!(described("hex = '0a 05'").unwrap(), "2 bytes given in hexadecimal");
        assert_eq!(described("text = '${1}'").unwrap(), "4 bytes of text");
        let template = described("template = 'a ${random(1, 2)} $${ ${:client_id}'").unwrap();
        assert_eq!(template, "text with 2 parts that are drawn for each request");
    }

    #[test]
    fn wrong_bodies_are_explained_at_their_place() {
        let wrong = |text: &str| described(text).unwrap_err().join("\n");
        let texts = [
            wrong("template = '''a\n${random(1)}'''"),
            wrong("template = 'x'\nsize = 3"),
            wrong("hex = '0a${random(1, 9)}'"),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
