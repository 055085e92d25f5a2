//! Finds programs of the operating system, and reads their versions and help texts.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::process::{Confinement, Process, command};

/// Folders of servers that are not on every user's PATH.
const SERVER_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"];

/// The first executable called `name`: in `first`, on PATH, then in the folders of servers.
pub(crate) fn find(name: &str, first: &[&Path]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    first
        .iter()
        .map(PathBuf::from)
        .chain(env::split_paths(&path))
        .chain(SERVER_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// How long a program may take to print its version.
const OUTPUT_BOUND: Duration = Duration::from_secs(20);

/// The output of a program on both streams when it runs with `argument`, such as `--version`, and these environment
/// variables; empty when it cannot be started. A program that does not end is killed.
pub(crate) fn program_output(
    program: &Path,
    argument: &str,
    environment: &[(String, String)],
) -> String {
    let asked = || -> anyhow::Result<String> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("said");
        let file = File::create(&path)?;
        let mut command = command(program);
        command.arg(argument).current_dir(folder.path());
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let process = Process::start(command, Confinement::default())?;
        if process.wait(OUTPUT_BOUND).is_none() {
            process.stop(OUTPUT_BOUND)?;
        }
        Ok(String::from_utf8_lossy(&fs::read(&path)?).into_owned())
    };
    asked().unwrap_or_default()
}

/// Whether this is a file that dyno may run.
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file() && nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write_program;

    #[test]
    fn installed_programs_are_found_and_missing_ones_are_not() {
        assert!(find("sh", &[]).unwrap().is_absolute());
        assert_eq!(find("no-such-server-anywhere", &[Path::new("/usr/bin")]), None);
    }

    #[test]
    fn program_output_is_read_from_stdout_and_stderr() {
        let folder = tempfile::tempdir().unwrap();
        let [text, program] = ["text", "server"].map(|name| folder.path().join(name));
        let script = "#!/bin/sh\necho this is $1\necho and $THAT >&2\nexit 3\n";
        fs::write(&text, script).unwrap();
        assert_eq!(program_output(&text, "-V", &[]), "", "it cannot be run");
        write_program(&program, script);
        let that = [("THAT".to_owned(), "that".to_owned())];
        assert_eq!(program_output(&program, "-V", &that), "this is -V\nand that\n");
    }

    #[test]
    fn the_folders_given_come_first_and_only_executables_count() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "").unwrap();
        assert_ne!(find("sh", &[folder.path()]).unwrap(), folder.path().join("sh"));
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh2")).unwrap();
        assert_eq!(find("sh2", &[folder.path()]).unwrap(), folder.path().join("sh2"));
    }
}
