//! Networks of their own for tests: a namespace with nothing but a loopback, which may be narrow or lose packets.
//! Needs root.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The namespace, which is gone with this.
pub(crate) struct Network {
    holder: Child,
}

impl Network {
    /// A namespace in which these commands of a shell have run.
    pub(crate) fn new(set_up: &str) -> Self {
        let script = format!("{set_up} && echo ready && exec sleep 600");
        let mut holder = Command::new("unshare");
        holder.args(["--net", "sh", "-c", &script]).stdout(Stdio::piped());
        let mut holder = holder.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let network = Self { holder };
        assert_eq!(line, "ready\n", "the network cannot be set up: {set_up}");
        network
    }

    /// What a command has to begin with to run inside.
    pub(crate) fn words(&self) -> Vec<String> {
        let pid = self.holder.id().to_string();
        ["nsenter", "--net", "-t", &pid].map(str::to_owned).to_vec()
    }

    pub(crate) fn inside(&self, command: &Command) -> Command {
        let words = self.words();
        let mut inside = Command::new(&words[0]);
        inside.args(&words[1..]).arg(command.get_program()).args(command.get_args());
        inside.current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// What a command inside prints.
    pub(crate) fn shows(&self, words: &[&str]) -> String {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir("/");
        let output = self.inside(&command).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
