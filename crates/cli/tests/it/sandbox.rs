//! Shared by the tests: the binary, temporary folders, and the real server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// 2 servers of 10 ms: 1 client makes 100 transactions per second, 6 make 200 with 30 ms each.
pub(crate) const SIMULATED: &str = r#"
name = "simulated"
[systems.simulated]
servers = 2
service_times = ["10ms"]
[workloads.simulated]
[load]
clients = [1, 6]
warm_up = "1s"
time = "5s"
"#;

/// A sandbox: one test's folder, in which `dyno` runs.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let folder = self.path().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let path = self.file(&format!("bin/{name}"), script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The folders that a `dyno` with its temporary files here has created for the data of systems.
    pub(crate) fn scratch_folders(&self) -> Vec<PathBuf> {
        let paths = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let is_one = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("dyno-"))
        };
        paths.filter(is_one).collect()
    }

    /// `dyno` in this folder, without a terminal and without a user's own settings.
    pub(crate) fn dyno<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path())
            .env_remove("MYSQL_PWD");
        command
    }

    /// Lets a command find the programs of this folder before all others, and keep its temporary files here.
    pub(crate) fn with_programs(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.path().join("bin").display()));
        command.env("TMPDIR", self.path());
    }

    pub(crate) fn succeed<const N: usize>(&self, args: [&str; N]) -> Output {
        let output = self.dyno(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", both(&output));
        output
    }

    /// Runs it and expects this exit code; returns standard error.
    pub(crate) fn fail<const N: usize>(&self, code: i32, args: [&str; N]) -> String {
        let output = self.dyno(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", both(&output));
        String::from_utf8(output.stderr).unwrap()
    }

    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let mut runs: Vec<PathBuf> = std::fs::read_dir(self.path().join("results"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            // Names of runs are links.
            .filter(|path| !path.is_symlink())
            .collect();
        runs.sort();
        runs
    }
}

/// The page of a run with everything that it makes when it is opened.
pub(crate) fn whole_page(run: &Path) -> String {
    use std::io::Read;
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let Some((before, packed)) = page.split_once("id=\"parts\">") else { return page };
    let bytes = STANDARD.decode(packed.split('<').next().unwrap()).unwrap();
    let mut parts = String::new();
    DeflateDecoder::new(&bytes[..]).read_to_string(&mut parts).unwrap();
    let parts: Vec<String> = serde_json::from_str(&parts).unwrap();
    format!("{before}{}", parts.concat())
}

/// The block of a document in this language that has these words.
pub(crate) fn block<'t>(text: &'t str, language: &str, words: &str) -> &'t str {
    let start = format!("```{language}\n");
    let blocks = text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.into_iter().find(|block| block.contains(words)).unwrap()
}

/// Both streams, for a failing test's message.
pub(crate) fn both(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// An error and its remedy as one sentence, as a record has them.
pub(crate) fn in_one_line(text: &str) -> String {
    text.replace("\n  help: ", "; ")
}

/// Runs a command that prints a report as JSON, expects success and returns the report.
pub(crate) fn report(command: &mut Command) -> serde_json::Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", both(&output));
    json(&output)
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", both(output)))
}
