//! Where a generator is, as users write it: `local`, `ssh://bench1`, `command:docker exec -i c`.

use std::fmt;

/// A place where a process of dyno can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// This host.
    Local,
    /// A host that is reached by ssh.
    Ssh {
        /// The host, or `USER@HOST`, or a name of ssh's own configuration.
        destination: String,
        /// The port; by default that of ssh's configuration.
        port: Option<u16>,
    },
    /// A command that runs another one elsewhere.
    Command(String),
    /// A pod of Kubernetes.
    Kubectl {
        /// Its namespace.
        namespace: String,
        /// Its name.
        pod: String,
    },
    /// A container of Docker.
    Docker {
        /// Its name.
        container: String,
    },
    /// A node of a Slurm cluster.
    Srun {
        /// Its name.
        node: String,
    },
}

impl Place {
    /// Reads a place.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`{text}` is no place for a generator: {why}"));
        if text == "local" {
            return Ok(Self::Local);
        }
        let Some((kind, rest)) = text.split_once(':') else {
            return wrong("it is neither `local` nor such as ssh://HOST or command:WORDS");
        };
        let name = rest.strip_prefix("//").unwrap_or_default();
        if kind != "command" && !is_name(name) {
            return wrong("it names no host");
        }
        match (kind, name.split_once('/')) {
            ("command", _) if rest.trim().is_empty() => wrong("it has no command"),
            ("command", _) => Ok(Self::Command(rest.to_owned())),
            ("kubectl", Some((namespace, pod))) if is_name(pod) => {
                Ok(Self::Kubectl { namespace: namespace.to_owned(), pod: pod.to_owned() })
            }
            ("ssh", None) => match name.rsplit_once(':') {
                None => Ok(Self::Ssh { destination: name.to_owned(), port: None }),
                Some((destination, port)) => match port.parse() {
                    Ok(port) => {
                        Ok(Self::Ssh { destination: destination.to_owned(), port: Some(port) })
                    }
                    Err(_) => wrong("its port is no number up to 65535"),
                },
            },
            ("docker", None) => Ok(Self::Docker { container: name.to_owned() }),
            ("srun", None) => Ok(Self::Srun { node: name.to_owned() }),
            _ => wrong("no place is written so"),
        }
    }
}

/// Whether a text can be a name of a host: it is there, and no option.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace)
}

/// As a plan writes it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ssh { destination, port: None } => write!(f, "ssh://{destination}"),
            Self::Ssh { destination, port: Some(port) } => write!(f, "ssh://{destination}:{port}"),
            Self::Command(words) => write!(f, "command:{words}"),
            Self::Kubectl { namespace, pod } => write!(f, "kubectl://{namespace}/{pod}"),
            Self::Docker { container } => write!(f, "docker://{container}"),
            Self::Srun { node } => write!(f, "srun://{node}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_shown_as_they_are_written() {
        for text in [
            "local",
            "ssh://bench1",
            "ssh://user@bench2:2222",
            "command:docker exec -i c",
            "kubectl://default/bench",
            "docker://c",
            "srun://node7",
        ] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_no_places() {
        for text in ["", "bench1", "ssh://", "ssh://-oProxyCommand=x", "command: ", "ssh://a:x"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
