//! The programs of a cluster: where they are, their versions and how they were built.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plan::OptionReader;

use crate::programs::{find, is_executable, program_output};
use crate::{options, tidb_cluster::member::Role};

/// TiKV's names of build profiles for debugging, which are slow.
const DEBUG_PROFILES: [&str; 2] = ["dev", "debug"];
/// The folder where cargo puts such builds.
const DEBUG_FOLDER: &str = "debug";

/// Where a program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Usual,
    Named(PathBuf),
}

impl Choice {
    /// Reads the option with the name of the role; relative paths are relative to `folder`.
    pub(super) fn read(role: Role, reader: &mut OptionReader<'_>, folder: &Path) -> Self {
        match reader.text(role.options().program.name) {
            Some(named) => Self::Named(options::program(folder, &named)),
            None => Self::Usual,
        }
    }

    /// Finds the program, which needs these environment variables to run.
    ///
    /// # Errors
    /// When it does not exist, with what to do about it.
    pub(super) fn find(
        &self,
        role: Role,
        environment: &[(String, String)],
    ) -> anyhow::Result<Program> {
        let path = match self {
            Self::Named(path) if is_executable(path) => path.clone(),
            Self::Named(path) => {
                bail!("`{}`: {} is not a program that can be run", role.name(), path.display())
            }
            Self::Usual => find(role.program(), &[]).with_context(|| missing(role))?,
        };
        Ok(Program::ask(path, environment))
    }
}

fn missing(role: Role) -> String {
    let (name, program) = (role.name(), role.program());
    format!(
        "{program} is not on PATH: name it with `{name}`, such as {name} = \"/opt/tidb/{program}\". \
         Where TiUP is, `tiup install {name}` puts it below ~/.tiup/components/{name}"
    )
}

/// A program of the cluster, and its version output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    program_output: String,
}

impl Program {
    fn ask(path: PathBuf, environment: &[(String, String)]) -> Self {
        let program_output = program_output(&path, "-V", environment);
        Self { path, program_output }
    }

    /// Whether its output says that it is TiKV, and not another store with its protocol.
    pub(super) fn is_tikv(&self) -> bool {
        self.program_output.lines().any(|line| line.trim() == "TiKV")
    }

    /// The file's name, for a program that does not report its product.
    pub(super) fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.labelled("Release Version").map(|version| version.trim_start_matches('v'))
    }

    /// The commit that it was built from, if it reports it.
    pub(super) fn commit(&self) -> Option<&str> {
        self.labelled("Git Commit Hash")
    }

    /// Why the program is not fit for measuring: the sign of a build for debugging in its output or in its path.
    pub(super) fn built_for_debugging(&self) -> Option<String> {
        if self.labelled("Race Enabled") == Some("true") {
            return Some("it has Go's race detector".to_owned());
        }
        match self.labelled("Profile") {
            Some(profile) if DEBUG_PROFILES.contains(&profile) => {
                Some(format!("its profile is `{profile}`"))
            }
            Some(_) => None,
            None => self.is_in_debug_folder().then(|| {
                format!("it lies in a folder called `{DEBUG_FOLDER}`: {}", self.path.display())
            }),
        }
    }

    fn is_in_debug_folder(&self) -> bool {
        // The path may be a link to such a folder.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        path.parent().is_some_and(|folder| folder.iter().any(|part| part == DEBUG_FOLDER))
    }

    /// The value of a line `label: value`; `None` for values that the build does not know.
    fn labelled(&self, label: &str) -> Option<&str> {
        let mut lines = self.program_output.lines();
        let value = lines.find_map(|line| line.trim().strip_prefix(label)?.strip_prefix(':'))?;
        Some(value.trim())
            .filter(|it| !it.is_empty() && *it != "None" && !it.starts_with("Unknown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TiKV's output, as its documentation shows it.
    fn tikv(path: &str, profile: &str) -> Program {
        let program_output = format!(
            "TiKV \nRelease Version:   7.5.0\nEdition:           Community\n\
             Git Commit Hash:   bd8a0aabd08fd77687f788e0b45858ccd3516e4d\n\
             Git Commit Branch: heads/refs/tags/v7.5.0\nUTC Build Time:    2023-11-29 02:53:21\n\
             Rust Version:      rustc 1.67.0-nightly (96ddd32c4 2022-11-14)\n\
             Enable Features:   pprof-fp jemalloc mem-profiling portable sse\nProfile:           {profile}\n"
        );
        Program { path: path.into(), program_output }
    }

    #[test]
    fn a_store_is_named_after_its_version_output() {
        let real = tikv("/opt/tikv-server", "dist_release");
        assert!(real.is_tikv());
        assert_eq!(real.version(), Some("7.5.0"));
        assert!(real.commit().unwrap().starts_with("bd8a0aab"));
        let program_output = "flag provided but not defined: -V\nUsage of unistore-server:\n";
        let other = Program {
            path: "/opt/unistore-server".into(),
            program_output: program_output.to_owned(),
        };
        assert!(!other.is_tikv());
        assert_eq!((other.version(), other.commit()), (None, None));
        assert_eq!(other.file_name(), "unistore-server");
    }

    #[test]
    fn debug_builds_are_detected() {
        let why = |path: &str, profile: &str| tikv(path, profile).built_for_debugging();
        assert_eq!(why("/opt/tikv-server", "dist_release"), None);
        assert_eq!(why("/opt/tikv-server", "dev").unwrap(), "its profile is `dev`");
        assert_eq!(why("/src/target/debug/tikv-server", "release"), None);
        let unknown = "Unknown (env var does not exist when building)";
        assert_eq!(
            why("/src/target/debug/tikv-server", unknown).unwrap(),
            "it lies in a folder called `debug`: /src/target/debug/tikv-server"
        );
        assert_eq!(why("/src/debugger/tikv-server", unknown), None);
        let race = "Release Version: v8.5.0\nRace Enabled: true\n".to_owned();
        let race = Program { path: "/opt/tidb-server".into(), program_output: race };
        assert_eq!(race.built_for_debugging().unwrap(), "it has Go's race detector");
    }

    #[test]
    fn a_missing_program_has_a_remedy() {
        let named =
            Choice::Named("/opt/none/tikv-server".into()).find(Role::TiKv, &[]).unwrap_err();
        assert_eq!(
            named.to_string(),
            "`tikv`: /opt/none/tikv-server is not a program that can be run"
        );
        insta::assert_snapshot!(missing(Role::TiKv), @r#"tikv-server is not on PATH: name it with `tikv`, such as tikv = "/opt/tidb/tikv-server". Where TiUP is, `tiup install tikv` puts it below ~/.tiup/components/tikv"#);
    }
}
