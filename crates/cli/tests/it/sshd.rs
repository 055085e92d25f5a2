//! A real SSH server on loopback, with its own keys, and the client with its own configuration.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::own_server::wait_until;
use crate::sandbox::{Sandbox, both};

/// Where Debian has the server; it wants its whole path.
const SSHD: &str = "/usr/sbin/sshd";
/// What the server asks for when it runs as root. Source: sshd(8), FILES.
const SEPARATION_FOLDER: &str = "/run/sshd";

/// The server. It runs as the user of the test, and takes only that user's key.
pub(crate) struct Sshd<'s> {
    sandbox: &'s Sandbox,
    server: Child,
    pub(crate) port: u16,
}

impl<'s> Sshd<'s> {
    /// Starts it, and puts an `ssh` into the sandbox's folder of programs that knows its key.
    pub(crate) fn start(sandbox: &'s Sandbox) -> Self {
        Self::start_by(sandbox, &["env".to_owned()])
    }

    /// The same behind the words of another program, such as one that changes the network.
    pub(crate) fn start_by(sandbox: &'s Sandbox, words: &[String]) -> Self {
        for key in ["host_key", "user_key", "other_key"] {
            let file = sandbox.path().join(key);
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file);
            let output = keygen.output().unwrap();
            assert!(output.status.success(), "{}", both(&output));
        }
        fs::copy(sandbox.path().join("user_key.pub"), sandbox.path().join("authorized_keys"))
            .unwrap();
        if nix::unistd::geteuid().is_root() {
            fs::create_dir_all(SEPARATION_FOLDER).unwrap();
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let folder = sandbox.path().display();
        let config = sandbox.file(
            "sshd_config",
            &format!(
                "ListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n\
                 PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nMaxStartups 100\n"
            ),
        );
        let log = fs::File::create(sandbox.path().join("sshd.log")).unwrap();
        let mut server = Command::new(&words[0]);
        server
            .args(&words[1..])
            .arg(SSHD)
            .args(["-D", "-e", "-p", &port.to_string(), "-f"])
            .arg(config);
        let server = server.stdin(Stdio::null()).stderr(log).spawn().expect("sshd is installed");
        let sshd = Self { sandbox, server, port };
        let log = sandbox.path().join("sshd.log");
        wait_until("the SSH server listens", || {
            fs::read_to_string(&log).unwrap().contains("Server listening on 127.0.0.1")
        });
        let key = fs::read_to_string(sandbox.path().join("host_key.pub")).unwrap();
        sandbox.file("known_hosts", &format!("[127.0.0.1]:{port} {key}"));
        sshd.client("user_key", "known_hosts");
        sshd
    }

    /// Makes `ssh` use these files, in place of the user's.
    pub(crate) fn client(&self, key: &str, known_hosts: &str) {
        let folder = self.sandbox.path().display();
        self.sandbox.file(
            "ssh_config",
            &format!(
                "Host *\nIdentityFile {folder}/{key}\nIdentitiesOnly yes\nIdentityAgent none\n\
                 UserKnownHostsFile {folder}/{known_hosts}\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\n"
            ),
        );
        let script = format!("#!/bin/sh\nexec /usr/bin/ssh -F '{folder}/ssh_config' \"$@\"\n");
        self.sandbox.program("ssh", &script);
    }

    pub(crate) fn place(&self) -> String {
        format!("ssh://127.0.0.1:{}", self.port)
    }

    /// The processes of its connections that the client has started.
    pub(crate) fn started(&self) -> Vec<u32> {
        let port = format!(" {}", self.port).into_bytes();
        let is_ours = |variable: &&[u8]| {
            variable.starts_with(b"SSH_CONNECTION=") && variable.ends_with(&port)
        };
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &u32| {
            let environment = fs::read(PathBuf::from(format!("/proc/{pid}/environ")));
            environment.is_ok_and(|bytes| bytes.split(|it| *it == 0).any(|it| is_ours(&it)))
        })
        .collect()
    }
}

impl Drop for Sshd<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
