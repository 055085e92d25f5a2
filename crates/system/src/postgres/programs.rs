//! Finds PostgreSQL's programs: packages keep those of each version in a folder of its own, which is not on PATH.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::account::Account;
use crate::programs::{find, is_executable, program_output};

/// Folders of versions, and where their programs are in them.
const VERSIONS: [(&str, &str, &str); 2] =
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
        let folder = match binary {
            Some(binary) if is_executable(binary) => binary.parent().unwrap_or(binary).to_owned(),
            Some(binary) => {
                bail!("`binary`: {} is not a program that can be run", binary.display())
            }
            None => usual().context(
                "PostgreSQL's program `postgres` is neither on PATH nor where packages put it: install it (Debian and \
                 Ubuntu: `apt-get install postgresql`) or give `binary`",
            )?,
        };
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
    let of_source = PathBuf::from(OF_SOURCE);
    on_path
        .or_else(highest)
        .or_else(|| is_executable(&of_source.join("postgres")).then_some(of_source))
}

/// The programs of the highest version that a package has installed.
fn highest() -> Option<PathBuf> {
    let folders = VERSIONS.iter().flat_map(|(parent, prefix, programs)| {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        entries.filter_map(move |entry| {
            let name = entry.file_name().into_string().ok()?;
            let version: f64 = name.strip_prefix(prefix)?.parse().ok()?;
            Some((version, entry.path().join(programs)))
        })
    });
    let found = folders.filter(|(_, folder)| is_executable(&folder.join("postgres")));
    found.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, folder)| folder)
}
