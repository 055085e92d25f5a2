//! Keys and values that go with each request, some of them another one with each.

use std::fmt;
use std::sync::Arc;

use plan::OptionReader;

use super::settings::METADATA;
use super::template::{DrawnText, Template};
use crate::random::Random;

/// What sets the draws of the first value apart from those of a client's body.
const FIRST_PART: u64 = 1;

/// Keys and values that go with each request.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    /// Those that are the same for all.
    pub(super) fixed: Vec<(String, String)>,
    /// Those that are drawn for each request.
    drawn: Vec<(String, Arc<Template>)>,
}

/// The values of one client's current request that are drawn.
#[derive(Default)]
pub(super) struct DrawnMetadata {
    texts: Vec<DrawnText>,
    values: Vec<String>,
    trouble: Option<String>,
}

impl Metadata {
    /// Reads keys and values, each as it is given: commas are part of a value.
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let given = reader.texts(METADATA.name);
        let pairs: Vec<_> = given.iter().filter_map(|text| key_and_value(text)).collect();
        if pairs.len() < given.len() {
            let message = "`metadata` has a text that is no key and value";
            reader.reject(METADATA.name, message, "write each as \"key=value\" or \"key: value\"");
        }
        let mut all = Self::default();
        for (key, value) in pairs {
            // Such as a token, which the record of the run must not have.
            if plan::names_secret_header(&key) {
                plan::hide(&value);
                let credentials = value.split_once(' ').map(|(_, credentials)| credentials.trim());
                credentials.into_iter().for_each(plan::hide);
            }
            let template = Template::read(reader, METADATA.name, &value);
            match template.fixed() {
                Some(value) => all.fixed.push((key, value.to_owned())),
                None => all.drawn.push((key, template.into())),
            }
        }
        all
    }

    /// The keys of drawn values, each with the first one of the first client, to be checked. One that has no value is empty.
    pub(super) fn samples(&self) -> Vec<(String, String)> {
        let mut first = self.of_client(0, 0);
        first.draw();
        let values = std::mem::take(&mut first.values).into_iter();
        self.drawn.iter().map(|(key, _)| key.clone()).zip(values).collect()
    }

    /// The values of client `index` of a load whose clients draw from this seed.
    pub(super) fn of_client(&self, index: usize, seed: u64) -> DrawnMetadata {
        let text = |((_, template), part): (&(String, Arc<Template>), u64)| {
            DrawnText::with_random(template, index, Random::of_part(seed, &[index as u64, part]))
        };
        let texts: Vec<DrawnText> = self.drawn.iter().zip(FIRST_PART..).map(text).collect();
        let values = vec![String::new(); texts.len()];
        DrawnMetadata { texts, values, trouble: None }
    }
}

impl DrawnMetadata {
    #[inline]
    pub(super) fn draw(&mut self) {
        if !self.texts.is_empty() {
            self.draw_all();
        }
    }

    fn draw_all(&mut self) {
        self.trouble = None;
        for (text, value) in self.texts.iter_mut().zip(&mut self.values) {
            text.draw();
            value.clear();
            match text.text() {
                Ok(text) => value.push_str(text),
                Err(trouble) => self.trouble = Some(trouble),
            }
        }
    }

    /// The values in the order of their keys.
    ///
    /// # Errors
    /// The expression that has no value.
    #[inline]
    pub(super) fn values(&self) -> Result<&[String], String> {
        match &self.trouble {
            None => Ok(&self.values),
            Some(trouble) => Err(trouble.clone()),
        }
    }
}

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.drawn.iter().map(|(key, _)| key.as_str()).collect();
        match keys.is_empty() {
            true => Ok(()),
            false => write!(f, ", {} drawn for each request", keys.join(", ")),
        }
    }
}

/// `key=value`, or `key: value` as HTTP and other clients write it. A name of HTTP has neither mark in it.
fn key_and_value(text: &str) -> Option<(String, String)> {
    let mark = text.find(['=', ':'])?;
    let (key, value) = (text[..mark].trim(), &text[mark + 1..]);
    let value = if text[mark..].starts_with(':') { value.trim() } else { value };
    (!key.contains(char::is_whitespace)).then(|| (key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    fn read(text: &str) -> Result<Metadata, Vec<plan::Problem>> {
        let options = Options::parse(text).unwrap();
        let mut reader = options.reader();
        let metadata = Metadata::read(&mut reader);
        reader.finish().map(|()| metadata)
    }

    #[test]
    fn values_of_metadata_are_taken_as_they_are() {
        let text = "metadata = ['baggage=k1=v1,k2=v2', 'user-agent: a (KHTML, like Gecko)', 'x:a=b', 'y= z', 'e=', 'd=$${a}']";
        let expected = [
            ("baggage", "k1=v1,k2=v2"),
            ("user-agent", "a (KHTML, like Gecko)"),
            ("x", "a=b"),
            ("y", " z"),
            ("e", ""),
            ("d", "${a}"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(read(text).unwrap().fixed, expected);
        let one = read("metadata = 'a: b,c'").unwrap().fixed;
        assert_eq!(one, [("a".to_owned(), "b,c".to_owned())]);
        for wrong in ["metadata = ['x=1', 'y']", "metadata = 'authorization Basic YQ=='"] {
            let problems = read(wrong).unwrap_err();
            assert_eq!(problems[0].message, "`metadata` has a text that is no key and value");
        }
    }

    #[test]
    fn parts_of_values_are_drawn_for_each_request() {
        let text = "metadata = ['x-fixed=1', 'x-id: ${:client_id}-${:request}', 'x-trace=${uuid()}', 'x-span=${uuid()}']";
        let metadata = read(text).unwrap();
        assert_eq!(metadata.fixed.len(), 1);
        assert_eq!(metadata.to_string(), ", x-id, x-trace, x-span drawn for each request");
        let of = |client, seed| {
            let mut drawn = metadata.of_client(client, seed);
            [(); 2].map(|()| {
                drawn.draw();
                drawn.values().unwrap().to_vec()
            })
        };
        let [first, second] = of(7, 1);
        assert_eq!((&*first[0], &*second[0]), ("7-0", "7-1"));
        assert_ne!(first[1], first[2], "each value has draws of its own");
        assert_ne!(first[1], second[1]);
        assert_eq!(of(7, 1), [first.clone(), second]);
        assert_ne!(of(8, 1)[0][1], first[1]);
        assert_ne!(of(7, 2)[0][1], first[1]);
        assert_eq!(metadata.samples()[0], ("x-id".to_owned(), "0-0".to_owned()));
    }

    #[test]
    fn wrong_parts_of_values_are_told() {
        let problems = read("metadata = 'x-id=${:clientid}'").unwrap_err();
        assert_eq!(problems[0].message, "metadata:1: unknown variable `clientid`");
        let metadata = read("metadata = 'x-id=${1 / random(0, 0)}'").unwrap();
        let mut drawn = metadata.of_client(0, 1);
        drawn.draw();
        assert_eq!(drawn.values(), Err("metadata:1: division by 0".to_owned()));
    }

    #[test]
    fn credentials_of_a_scheme_are_blanked_alone_too() {
        read("metadata = 'Authorization: Basic dXNlcjpob3JzMw=='").unwrap();
        assert_eq!(plan::scrub("it got dXNlcjpob3JzMw=="), "it got ***");
    }

    #[test]
    fn a_token_in_the_metadata_is_blanked_in_all_that_is_written() {
        let text = "metadata = [\"authorization=Bearer hors3-carr1age\", \"trace=visible-value\"]";
        assert_eq!(read(text).unwrap().fixed[0].1, "Bearer hors3-carr1age");
        let clean = plan::scrub(&format!("{text}; the server refused Bearer hors3-carr1age"));
        assert!(!clean.contains("carr1age") && clean.contains("visible-value"), "{clean}");
    }
}
