//! Readers of public formats for the tests: packages of Python, of fixed versions, in cargo's output folder.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The environment variable that holds the folder of the packages in tests.
pub(crate) const VARIABLE: &str = "DYNO_TEST_READERS";
/// The packages, below the repository's root.
const REQUIREMENTS: &str = "crates/cli/tests/it/readers.txt";
/// The list that a folder was installed from is written here when it is complete.
const INSTALLED: &str = "installed-from";

/// The folder with the packages; they are installed now if they are missing or of other versions.
pub(crate) fn provide(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let list = paths::root().join(REQUIREMENTS);
    let wanted = fs::read_to_string(&list).with_context(|| format!("no {}", list.display()))?;
    let folder = paths::target().join("readers");
    if fs::read_to_string(folder.join(INSTALLED)).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove other versions of the readers")?;
    }
    let quiet = ["install", "--quiet", "--no-compile", "--disable-pip-version-check", "--target"];
    let mut install = shell::command("pip3", &quiet);
    shell::must(install.arg(&folder).arg("--requirement").arg(&list), interrupt)
        .context("cannot install readers of formats; they come from PyPI")?;
    fs::write(folder.join(INSTALLED), wanted)?;
    Ok(folder)
}
