//! The script with shells of this machine, and programs that are no dyno.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plan::Place;

use crate::hello::sha256;
use crate::peer::{Peer, StartOptions};

/// A home and a folder for temporary files, and a program.
struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    /// With a program that runs this script for each command but `--version`.
    fn with_program(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let program = folder.path().join("program");
        let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> StartOptions {
        let bound = Duration::from_secs(20);
        StartOptions { program: self.path("program"), bound, ..StartOptions::new("generator") }
    }

    fn error(&self, words: &str, options: &StartOptions) -> String {
        let [home, tmp] = ["home", "tmp"].map(|name| self.path(name));
        let place = format!("command:env HOME={} TMPDIR={} {words}", home.display(), tmp.display());
        let error = Peer::start(&Place::parse(&place).unwrap(), options, &|| false).unwrap_err();
        format!("{error:#}")
    }

    /// How many files there are below the home and the temporary folder.
    fn files(&self) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| if path.is_dir() { 1 + count(&path) } else { 1 }).sum()
        }
        count(&self.path("home")) + count(&self.path("tmp"))
    }
}

#[test]
fn the_program_runs_with_its_command_and_its_copy_is_gone_before() {
    // `$0` is the open file; the folder of the copy has been removed.
    let sandbox = Sandbox::with_program("ls \"$TMPDIR\" >&2; echo \"ran $1 of $0\" >&2; exit 7");
    let error = sandbox.error("", &sandbox.options());
    assert!(error.contains("its process has ended (exit status: 7)"), "{error}");
    assert!(error.contains("it said: ran generator of /proc/self/fd/3"), "{error}");
    assert_eq!(sandbox.files(), 0);
}

#[test]
fn a_kept_copy_is_used_again_and_replaced_when_it_is_damaged() {
    let sandbox = Sandbox::with_program("echo \"ran $0\" >&2");
    let keeping = StartOptions { keep_copies: true, ..sandbox.options() };
    let hash = sha256(&sandbox.path("program")).unwrap();
    let kept = sandbox.path("home").join(".cache/dyno").join(hash).join("dyno");
    let error = sandbox.error("", &keeping);
    assert!(error.contains("ran /proc/self/fd/3"), "{error}");
    assert_eq!(fs::read(&kept).unwrap(), fs::read(sandbox.path("program")).unwrap());
    // It is found, also by a run that keeps none.
    for options in [&keeping, &sandbox.options()] {
        let error = sandbox.error("", options);
        assert!(error.contains(&format!("ran {}", kept.display())), "{error}");
    }
    fs::write(&kept, "#!/bin/sh\necho another program >&2\n").unwrap();
    let error = sandbox.error("", &sandbox.options());
    assert!(error.contains("ran /proc/self/fd/3"), "{error}");
    let error = sandbox.error("", &keeping);
    assert!(error.contains("ran /proc/self/fd/3"), "{error}");
    assert_eq!(fs::read(&kept).unwrap(), fs::read(sandbox.path("program")).unwrap());
}

#[test]
fn noise_before_the_conversation_is_skipped_and_bounded() {
    let sandbox = Sandbox::with_program("echo ran >&2");
    let noisy = |noise: &str| format!("sh -c '{noise}; exec \"$@\"' sh");
    let error = sandbox.error(&noisy("echo Welcome; printf prompt"), &sandbox.options());
    assert!(error.contains("it said: ran"), "{error}");
    let error = sandbox.error(&noisy("yes"), &sandbox.options());
    assert!(error.contains("more than 65536 bytes came before it, such as \"y\\n"), "{error}");
    let error = sandbox.error(&noisy("head -c 1000000 /dev/zero"), &sandbox.options());
    assert!(error.contains("more than 65536 bytes came before it"), "{error}");
}

#[test]
fn a_shell_that_is_none_ends_with_what_it_said() {
    let sandbox = Sandbox::with_program("exit 0");
    let error = sandbox.error("sh -c 'echo no such pod >&2; exit 1'", &sandbox.options());
    assert!(
        error.contains("its process has ended (exit status: 1); it said: no such pod"),
        "{error}"
    );
    let error = sandbox.error(
        "sleep 600",
        &StartOptions { bound: Duration::from_millis(300), ..sandbox.options() },
    );
    // `sleep` takes the words behind for numbers.
    assert!(error.contains("invalid"), "{error}");
    let silent = StartOptions { bound: Duration::from_millis(300), ..sandbox.options() };
    let error = sandbox.error("sh -c 'sleep 600'", &silent);
    assert!(error.contains("it has not answered for 300ms"), "{error}");
}

#[test]
fn a_program_that_does_not_run_there_is_refused_with_what_it_said() {
    let sandbox = Sandbox::with_program("");
    let text = "#!/bin/sh\necho 'version `GLIBC_2.99'\\'' not found' >&2; exit 1\n";
    fs::write(sandbox.path("program"), text).unwrap();
    let error = sandbox.error("", &sandbox.options());
    assert!(
        error.contains("the program does not run there: version `GLIBC_2.99' not found"),
        "{error}"
    );
    assert_eq!(sandbox.files(), 0);
}

#[test]
fn a_host_without_sha256sum_checks_with_cksum() {
    let sandbox = Sandbox::with_program("echo ran >&2");
    let programs = sandbox.path("bin");
    fs::create_dir(&programs).unwrap();
    let tools = ["sh", "uname", "cksum", "mktemp", "chmod", "head", "rm", "df", "tail", "ls"];
    for tool in tools {
        let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, programs.join(tool)).unwrap();
    }
    let error = sandbox.error(&format!("PATH={}", programs.display()), &sandbox.options());
    assert!(error.contains("it said: ran"), "{error}");
}

#[test]
fn a_program_that_is_no_dyno_is_refused() {
    for (script, expected) in [
        (
            "printf '\\ndyno-frames-1\\n'; exit 3",
            "the connection has ended; its process has ended (exit status: 3)",
        ),
        (
            "printf '\\ndyno-frames-1\\nHTTP/1.1 400 Bad Request'; sleep 600",
            "a message of 1347703880 bytes",
        ),
        ("printf '\\ndyno-frames-1\\n\\3\\0\\0\\0\\2abc\\n'; sleep 600", "not a message of dyno"),
        (
            "printf '\\ndyno-frames-1\\n'; while :; do printf '\\0\\0\\0\\0\\1\\n'; sleep 0.2; done",
            "has not said what it is for 1s",
        ),
        ("yes", "more than 65536 bytes came before it"),
        ("printf '\\ndyno-frames-1\\r\\n'; sleep 600", "a terminal is between the two ends"),
    ] {
        let sandbox = Sandbox::with_program(script);
        let options = StartOptions { bound: Duration::from_secs(1), ..sandbox.options() };
        let error = sandbox.error("", &options);
        assert!(error.contains(expected), "{script}: {error}");
        assert_eq!(sandbox.files(), 0, "{script}");
    }
}

#[test]
fn a_stop_is_heeded_in_every_phase() {
    for (words, script) in [("sh -c 'sleep 600'", ""), ("", "sleep 600")] {
        let sandbox = Sandbox::with_program(script);
        let place = format!("command:env TMPDIR={} {words}", sandbox.path("tmp").display());
        let place = Place::parse(&place).unwrap();
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let error = Peer::start(&place, &sandbox.options(), &stop).unwrap_err();
        assert!(format!("{error:#}").contains("interrupted"), "{error:#}");
        assert_eq!(sandbox.files(), 0, "{words}");
    }
}
