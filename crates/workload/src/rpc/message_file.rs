//! A file of messages in JSON, one a line, of which each request has one.

use std::sync::Arc;

use driver::rpc::UnaryMethod;
use measure::Failure;
use plan::declared::{Choice, Text, choice, text};
use plan::{Files, OptionReader};

use crate::parallel::unsuitable;
use crate::random::Random;

pub(super) const MESSAGES: Text = text(
    "messages",
    "",
    "body of requests: a file of messages in JSON, one a line; each is as `message`, but has no parts",
);
const ORDER: Choice<Order> = choice(
    "messages_order",
    ("turn", Order::Turn),
    &[("turn", Order::Turn), ("random", Order::Random)],
    "which of `messages` a request has: turn (each client begins one line further on), random",
);
pub(super) const OPTIONS: [&dyn plan::declared::Described; 2] = [&MESSAGES, &ORDER];

/// Which of the messages is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// That of the next line; client `i` begins with line `i`.
    Turn,
    Random,
}

/// The messages of a file, each with its line, from 1.
#[derive(Debug)]
pub(super) struct MessageFile {
    name: String,
    lines: Vec<(usize, String)>,
    order: Order,
}

/// The bodies of its messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bodies {
    all: Arc<[Box<[u8]>]>,
    order: Order,
}

/// The body of one client's current request.
pub(super) struct ListedBody {
    bodies: Bodies,
    /// The place of the next one.
    next: usize,
    current: usize,
    random: Random,
}

impl MessageFile {
    /// The file that the options name; an empty one when there is something wrong with it.
    pub(super) fn read(reader: &mut OptionReader<'_>, files: &Files) -> Option<Self> {
        let order = ORDER.read(reader);
        let Some(name) = reader.text(MESSAGES.name) else {
            if reader.is_given(ORDER.name) {
                let message = "`messages_order` is given, but no `messages`";
                reader.reject(ORDER.name, message, "leave it out, or name a file with `messages`");
            }
            return None;
        };
        let text = files.read_text(&name).unwrap_or_else(|error| {
            let help = "check the path; it is a file with a message in JSON in each line";
            reader.reject(MESSAGES.name, format!("cannot read {name}: {error}"), help);
            "{}".to_owned()
        });
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let lines: Vec<_> = lines.map(|(line, json)| (line, json.to_owned())).collect();
        if lines.is_empty() {
            let help = "write a message in JSON in each line";
            reader.reject(MESSAGES.name, format!("{name} has no message"), help);
        }
        Some(Self { name, lines, order })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The texts themselves.
    pub(super) fn texts(&self) -> Bodies {
        let all = self.lines.iter().map(|(_, json)| json.as_bytes().into()).collect();
        Bodies { all, order: self.order }
    }

    /// The messages as a method takes them.
    ///
    /// # Errors
    /// The first that is not of the method's input type, with its line.
    pub(super) fn encoded(&self, method: &UnaryMethod) -> Result<Bodies, Failure> {
        let encoded = |(line, json): &(usize, String)| match method.request(json) {
            Ok(body) => Ok(body.into()),
            Err(fault) => Err(unsuitable(format!("{}:{line}: {fault}", self.name))),
        };
        let all = self.lines.iter().map(encoded).collect::<Result<_, _>>()?;
        Ok(Bodies { all, order: self.order })
    }
}

impl Bodies {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The bodies of client `index` of a load whose clients draw from this seed.
    pub(super) fn of_client(&self, index: usize, seed: u64) -> ListedBody {
        let random = Random::of_part(seed, &[index as u64]);
        let next = index.checked_rem(self.all.len()).unwrap_or(0);
        ListedBody { bodies: self.clone(), next, current: next, random }
    }
}

impl ListedBody {
    pub(super) fn draw(&mut self) {
        let Bodies { all, order } = &self.bodies;
        match order {
            Order::Turn => {
                self.current = self.next;
                self.next = if self.next + 1 < all.len() { self.next + 1 } else { 0 };
            }
            Order::Random => self.current = self.random.below(all.len() as u64) as usize,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bodies.all.get(self.current).map_or(&[], |body| &**body)
    }
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::super::settings::Settings;
    use super::*;

    /// The bodies of the first requests of a client, with a file of this text.
    fn drawn(text: &str, order: &str, client: usize, count: usize) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m"), text).unwrap();
        let options = Options::parse(&format!("messages = 'm'\n{order}")).unwrap();
        let mut reader = options.reader();
        let file = MessageFile::read(&mut reader, &Files::of(folder.path())).unwrap();
        reader.finish().unwrap();
        let mut body = file.texts().of_client(client, 1);
        let next = |_| {
            body.draw();
            String::from_utf8(body.bytes().to_vec()).unwrap()
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn messages_are_taken_in_turn_by_each_client() {
        let text = "\u{feff}{\"a\": 1}\r\n\n2\n${3}";
        assert_eq!(drawn(text, "", 0, 4), ["{\"a\": 1}", "2", "${3}", "{\"a\": 1}"]);
        assert_eq!(drawn(text, "", 5, 2), ["${3}", "{\"a\": 1}"]);
    }

    #[test]
    fn messages_are_drawn_as_the_seed_says() {
        let (text, order) = ("1\n2\n3\n", "messages_order = 'random'");
        let first = drawn(text, order, 0, 100);
        assert_eq!(drawn(text, order, 0, 100), first);
        assert_ne!(drawn(text, order, 1, 100), first);
        for message in ["1", "2", "3"] {
            let times = first.iter().filter(|drawn| *drawn == message).count();
            assert!((15..=55).contains(&times), "{message}: {times}");
        }
    }

    #[test]
    fn a_file_of_messages_is_the_only_body() {
        let read = |options: &str| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("m"), "{}").unwrap();
            let options = Options::parse(options).unwrap();
            Settings::read(&options, &Files::of(folder.path())).map(|it| it.message.unwrap())
        };
        assert_eq!(read("messages = 'm'").unwrap().to_string(), "1 messages of a file");
        for other in ["message = '{}'", "text = ''", "size = 1"] {
            let problems = read(&format!("{other}\nmessages = 'm'")).unwrap_err();
            assert_eq!(problems[0].message, "several options give the body of requests", "{other}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_of_messages_is_told() {
        let told = |options: &str| {
            let options = Options::parse(options).unwrap();
            let mut reader = options.reader();
            MessageFile::read(&mut reader, &Files::of("/"));
            reader.finish().unwrap_err().remove(0).message
        };
        insta::assert_snapshot!(told("messages = 'absent'"), @"cannot read absent: No such file or directory (os error 2)");
        insta::assert_snapshot!(told("messages = '/dev/null'"), @"/dev/null has no message");
        insta::assert_snapshot!(told("messages_order = 'random'"), @"`messages_order` is given, but no `messages`");
    }
}
