//! `--name`: the links beside the folders of runs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use record::LATEST;

use super::{WrongArgument, print_message};

/// The names that a run will have: its own, if it has one, and that of the newest of all.
pub(super) struct RunNames {
    out: PathBuf,
    name: Option<String>,
}

impl RunNames {
    /// # Errors
    /// When the name cannot be one, or a file or a folder has it.
    pub(super) fn check(out: &Path, name: Option<String>) -> Result<Self> {
        let Some(name) = name else { return Ok(Self { out: out.to_path_buf(), name }) };
        if let Some(help) = plan::bad_name(&name) {
            let message = format!("--name {name:?} cannot name a run in {}: {help}", out.display());
            return Err(WrongArgument(message).into());
        }
        if name == LATEST {
            let message = format!(
                "--name {LATEST}: {} always leads to the newest run; choose another name",
                out.join(LATEST).display()
            );
            return Err(WrongArgument(message).into());
        }
        if let Err(taken) = record::name_place(out, &name) {
            return Err(WrongArgument(format!("--name {name}: {taken}")).into());
        }
        Ok(Self { out: out.to_path_buf(), name: Some(name) })
    }

    /// Lets the names stand for a run whose record is there. What cannot be named is told: the run has its folder.
    pub(super) fn give(&self, run: &Path) {
        for name in self.name.as_deref().into_iter().chain([LATEST]) {
            if let Err(cause) = record::name_run(&self.out, name, run) {
                print_message(&format!("the run has no name `{name}`: {cause}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_paths_or_taken_are_refused() {
        let out = tempfile::tempdir().unwrap();
        std::fs::create_dir(out.path().join("taken")).unwrap();
        let check = |name: &str| RunNames::check(out.path(), Some(name.to_owned()));
        for (name, why) in [
            ("", "use letters"),
            ("a/b", "use letters"),
            ("../main", "use letters"),
            (".", "use letters"),
            ("latest", "always leads to the newest run"),
            ("taken", "is no link to a run"),
        ] {
            let told = check(name).err().unwrap().to_string();
            assert!(told.contains(why), "{name}: {told}");
        }
        assert!(check("main").is_ok());
    }
}
