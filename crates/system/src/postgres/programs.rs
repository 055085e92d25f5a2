//! Finds PostgreSQL's programs: packages keep those of each version in a folder of its own, which is not on PATH.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::wheel::{self, VERSIONS};
use crate::ProgressListener;
use crate::account::Account;
use crate::programs::{find, is_executable, program_output};

/// Folders of versions, and where their programs are in them.
const FOLDERS: [(&str, &str, &str); 2] =
    [("/usr/lib/postgresql", "", "bin"), ("/usr", "pgsql-", "bin")];
/// Where a build from source is installed.
const OF_SOURCE: &str = "/usr/local/pgsql/bin";

/// The programs of one version.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) server: PathBuf,
    /// The program that makes a data folder.
    pub(super) initdb: PathBuf,
}

impl Programs {
    /// Those beside `binary`, the server's program; otherwise those on PATH, or the highest version of the
    /// operating system's packages.
    pub(super) fn find(binary: Option<&Path>) -> anyhow::Result<Self> {
        Self::in_folder(&match binary {
            Some(binary) if is_executable(binary) => binary.parent().unwrap_or(binary).to_owned(),
            Some(binary) => {
                bail!("`binary`: {} is not a program that can be run", binary.display())
            }
            None => usual().with_context(|| {
                format!(
                    "PostgreSQL's program `postgres` is neither on PATH nor where packages put it: install it (Debian and \
                     Ubuntu: `apt-get install postgresql`), give `binary`, or have `version` fetched, which may be {VERSIONS}"
                )
            })?,
        })
    }

    /// Those of this version that are on PATH or where packages put them; `None` when there are none.
    pub(super) fn of_version(version: u32) -> Option<Self> {
        let of_packages = folders().into_iter().filter(|(it, _)| *it as u32 == version);
        let mut folders = of_packages.map(|(_, folder)| folder).chain(usual());
        folders.find_map(|folder| {
            Self::in_folder(&folder).ok().filter(|programs| programs.version() == version)
        })
    }

    pub(super) fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        let program = |name: &str| {
            let program = folder.join(name);
            let missing = || format!("there is no program {}", program.display());
            is_executable(&program).then(|| program.clone()).with_context(missing)
        };
        Ok(Self { server: program("postgres")?, initdb: program("initdb")? })
    }

    /// The first number of the version; 0 when the program does not tell.
    pub(super) fn version(&self) -> u32 {
        let told = program_output(&self.server, "--version", &[]);
        let number = told.split_whitespace().find_map(|word| {
            let digits = word.split(|letter: char| !letter.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        number.unwrap_or_default()
    }

    /// Copies of them all, for an account that cannot reach them; they may be there already.
    pub(super) fn copied(
        &self,
        to: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Self> {
        let folder = self.server.parent().unwrap_or(&self.server);
        let programs = match to.is_dir() {
            true => to.join("bin"),
            false => wheel::copy(folder, to, listener)?,
        };
        Self::in_folder(&programs)
    }

    /// Whether the server's account can reach the programs.
    pub(super) fn demand_way(&self, account: Option<&Account>) -> anyhow::Result<()> {
        let Some(account) = account else { return Ok(()) };
        [&self.server, &self.initdb].into_iter().try_for_each(|program| {
            account.demand_way_to(program, "put the program where everyone can run it")
        })
    }
}

fn usual() -> Option<PathBuf> {
    // A link on PATH leads to the folder that has the other programs too.
    let on_path = find("postgres", &[]).and_then(|program| program.canonicalize().ok());
    let on_path = on_path.and_then(|program| program.parent().map(Path::to_owned));
    let highest = || {
        let all = folders().into_iter();
        all.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, folder)| folder)
    };
    let of_source = || Some(PathBuf::from(OF_SOURCE)).filter(|folder| has_server(folder));
    on_path.or_else(highest).or_else(of_config).or_else(of_source)
}

/// Where the program says that tells builds of clients what is installed.
fn of_config() -> Option<PathBuf> {
    let told = program_output(&find("pg_config", &[])?, "--bindir", &[]);
    Some(PathBuf::from(told.trim())).filter(|folder| has_server(folder))
}

fn has_server(folder: &Path) -> bool {
    is_executable(&folder.join("postgres"))
}

/// The folders of the programs that packages have installed, with their versions.
fn folders() -> Vec<(f64, PathBuf)> {
    let folders = FOLDERS.iter().flat_map(|(parent, prefix, programs)| {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        entries.filter_map(move |entry| {
            let name = entry.file_name().into_string().ok()?;
            let version: f64 = name.strip_prefix(prefix)?.parse().ok()?;
            Some((version, entry.path().join(programs)))
        })
    });
    folders.filter(|(_, folder)| has_server(folder)).collect()
}
