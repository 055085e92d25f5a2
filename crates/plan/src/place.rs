//! Places where dyno runs a part of its work: this machine, or another one, with how it is reached.

use std::fmt;

use crate::shell_words::shell_words;

/// A spelling of places that a program reaches: it runs the words behind its own there.
struct Spelling {
    /// The program, which is the scheme of the place's URL.
    program: &'static str,
    /// The names in the URL, with the characters that each may have beside those of every name.
    names: &'static [(&'static str, &'static str)],
    /// The program's own words, with the names to fill in.
    words: &'static [&'static str],
}

const SPELLINGS: &[Spelling] = &[
    Spelling {
        program: "kubectl",
        names: &[("NAMESPACE", ""), ("POD", "/")],
        words: &["exec", "-i", "-n", "NAMESPACE", "POD", "--"],
    },
    Spelling {
        program: "docker",
        names: &[("CONTAINER", "")],
        words: &["exec", "-i", "CONTAINER"],
    },
    // One step of one task, which has the whole node's connection to itself.
    Spelling {
        program: "srun",
        names: &[("NODE", "")],
        words: &["-N1", "-n1", "--overlap", "-w", "NODE"],
    },
];

/// Where a dyno runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Local,
    /// A host with an SSH server.
    Ssh {
        /// The host as ssh takes it, with the user if there is one: `bench1`, `root@10.0.0.7`.
        destination: String,
        /// Its port; the one of ssh's configuration when `None`.
        port: Option<u16>,
    },
    /// What a command reaches that runs the words behind its own there: `docker exec -i c`.
    Command {
        /// The place as the plan has it.
        text: String,
        /// The words of the command, at least one.
        words: Vec<String>,
    },
}

impl Place {
    /// Reads a place as plans have it.
    ///
    /// # Errors
    /// What is wrong with it, for the message of a problem. The message does not repeat a text that may have a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "local" {
            return Ok(Self::Local);
        }
        if let Some(words) = text.strip_prefix("command:") {
            let words = command(words)?;
            return Ok(Self::Command { text: text.to_owned(), words });
        }
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        if scheme == "ssh" {
            return ssh(rest);
        }
        let spelling = SPELLINGS.iter().find(|it| it.program == scheme).ok_or_else(|| {
            let forms: Vec<String> = SPELLINGS.iter().map(Spelling::form).collect();
            let own = "local, ssh://[USER@]HOST[:PORT], command:WORDS";
            format!("this is not a place; allowed: {own}, {}", forms.join(", "))
        })?;
        Ok(Self::Command { text: text.to_owned(), words: spelling.command(rest)? })
    }
}

impl Spelling {
    fn form(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(|(name, _)| *name).collect();
        format!("{}://{}", self.program, names.join("/"))
    }

    /// The words of the command, with the names of a URL.
    fn command(&self, names: &str) -> Result<Vec<String>, String> {
        // A URL with too few names lacks the first of them.
        let mut given: Vec<&str> = names.splitn(self.names.len(), '/').collect();
        while given.len() < self.names.len() {
            given.insert(0, "");
        }
        let mut known = Vec::new();
        for ((key, more), text) in self.names.iter().zip(given) {
            let what = format!("{} of {}", key.to_lowercase(), self.form());
            known.push((*key, name(text, &what, more)?));
        }
        let filled = |word: &&str| match known.iter().find(|(key, _)| key == word) {
            Some((_, name)) => name.clone(),
            None => (*word).to_owned(),
        };
        let own = self.words.iter().map(filled);
        Ok(std::iter::once(self.program.to_owned()).chain(own).collect())
    }
}

fn command(text: &str) -> Result<Vec<String>, String> {
    let words = shell_words(text).map_err(|why| format!("the words of `command:` {why}"))?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => {
            Err("`command:` has no program: write such as \"command:docker exec -i bench\""
                .to_owned())
        }
    }
}

/// `[USER@]HOST[:PORT]`, with an IPv6 address in brackets.
fn ssh(rest: &str) -> Result<Place, String> {
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    };
    let (host, port) = host_and_port(host)?;
    let is_address = host.contains(':');
    let host = if is_address {
        name(host, "host of ssh://HOST", ":%")?
    } else {
        name(host, "host of ssh://HOST", "")?
    };
    let destination = match user {
        None => host,
        Some(user) if user.contains(':') => {
            return Err(
                "a place has a password: ssh takes keys, an agent or its configuration".to_owned()
            );
        }
        Some(user) => format!("{}@{host}", name(user, "user of ssh://USER@HOST", "\\+@$")?),
    };
    Ok(Place::Ssh { destination, port })
}

fn host_and_port(text: &str) -> Result<(&str, Option<u16>), String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest
                .split_once(']')
                .filter(|(host, _)| host.contains(':'))
                .ok_or("brackets are for an IPv6 address: ssh://[::1]:22")?;
            match behind {
                "" => (host, None),
                _ => (
                    host,
                    Some(
                        behind
                            .strip_prefix(':')
                            .ok_or("only a port may follow the brackets of an address")?,
                    ),
                ),
            }
        }
        None if text.matches(':').count() > 1 => {
            return Err("an IPv6 address is in brackets: ssh://[::1]:22".to_owned());
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map(|port| match port.parse() {
        Ok(number) if number > 0 && port.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
        _ => Err("the port of ssh://HOST:PORT is a number from 1 to 65535".to_owned()),
    });
    Ok((host, port.transpose()?))
}

/// A name that no program takes for an option or for several words: letters, digits, `-`, `_`, `.` and those of `more`.
fn name(text: &str, what: &str, more: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err(format!("the {what} is missing"));
    }
    if text.starts_with('-') {
        return Err(format!("the {what} begins with `-`, like an option"));
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c) || more.contains(c);
    match text.chars().find(|&c| !is_plain(c)) {
        Some(c) => Err(format!("the {what} has {c:?} in it")),
        None => Ok(text.to_owned()),
    }
}

/// The text of a plan.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ssh { destination, port } => {
                let (user, host) = match destination.rsplit_once('@') {
                    Some((user, host)) => (format!("{user}@"), host),
                    None => (String::new(), destination.as_str()),
                };
                let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
                let port = port.map_or_else(String::new, |port| format!(":{port}"));
                write!(f, "ssh://{user}{host}{port}")
            }
            Self::Command { text, .. } => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(destination: &str, port: Option<u16>) -> Place {
        Place::Ssh { destination: destination.to_owned(), port }
    }

    #[test]
    fn places_are_read_and_shown_as_they_were_given() {
        for (text, place) in [
            ("local", Place::Local),
            ("ssh://bench1", ssh("bench1", None)),
            ("ssh://user@bench2:2222", ssh("user@bench2", Some(2222))),
            ("ssh://root@10.0.0.7", ssh("root@10.0.0.7", None)),
            ("ssh://u@corp.example@h", ssh("u@corp.example@h", None)),
            ("ssh://[fe80::1%eth0]:22", ssh("fe80::1%eth0", Some(22))),
        ] {
            assert_eq!(Place::parse(text), Ok(place.clone()), "{text}");
            assert_eq!(place.to_string(), text);
        }
        for (text, expected) in [
            ("command:docker exec -i 'a b'", &["docker", "exec", "-i", "a b"][..]),
            ("kubectl://load/p-0", &["kubectl", "exec", "-i", "-n", "load", "p-0", "--"]),
            (
                "kubectl://n/deployment/d",
                &["kubectl", "exec", "-i", "-n", "n", "deployment/d", "--"],
            ),
            ("docker://c_1", &["docker", "exec", "-i", "c_1"]),
            ("srun://node07", &["srun", "-N1", "-n1", "--overlap", "-w", "node07"]),
        ] {
            let place = Place::parse(text).unwrap();
            assert_eq!(place.to_string(), text);
            let Place::Command { words, .. } = place else { panic!("{text}: {place:?}") };
            assert_eq!(words, expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_place_is_refused_with_the_reason() {
        for (text, expected) in [
            ("", "allowed: local, ssh://"),
            ("bench1", "allowed: local, ssh://"),
            ("rsh://bench1", "allowed: local, ssh://"),
            ("LOCAL", "allowed: local, ssh://"),
            ("ssh://", "host of ssh://HOST is missing"),
            ("ssh://u@", "host of ssh://HOST is missing"),
            ("ssh://@h", "user of ssh://USER@HOST is missing"),
            ("ssh://-oProxyCommand=id", "begins with `-`, like an option"),
            ("ssh://-l@h", "begins with `-`, like an option"),
            ("ssh://h/x", "has '/' in it"),
            ("ssh://h ls", "has ' ' in it"),
            ("ssh://h\n", "has '\\n' in it"),
            ("ssh://h:0", "a number from 1 to 65535"),
            ("ssh://h:65536", "a number from 1 to 65535"),
            ("ssh://h:+22", "a number from 1 to 65535"),
            ("ssh://h:", "a number from 1 to 65535"),
            ("ssh://::1", "in brackets"),
            ("ssh://[h]", "brackets are for an IPv6 address"),
            ("ssh://[::1]x", "only a port"),
            ("kubectl://pod", "namespace of kubectl://NAMESPACE/POD is missing"),
            ("kubectl://n/", "pod of kubectl://NAMESPACE/POD is missing"),
            ("kubectl://n/--help", "begins with `-`"),
            ("docker://", "container of docker://CONTAINER is missing"),
            ("docker://a/b", "has '/' in it"),
            ("srun://a,b", "has ',' in it"),
            ("command:", "no program"),
            ("command:  ", "no program"),
            ("command:''", "no program"),
            ("command:ssh 'h", "have a quotation that does not end"),
        ] {
            let why = Place::parse(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        let why = Place::parse("ssh://u:secret@h").unwrap_err();
        assert!(why.contains("password") && !why.contains("secret"), "{why}");
    }
}
