//! Servers that dyno builds from Go modules whose files are compiled into it: once for each set of build options, kept
//! in the cache folder.

use std::env::consts::ARCH;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sha1::{Digest, Sha1};

use super::{Build, Go};
use crate::cache::{Lock, cache_folder};
use crate::{ProgressEvent, ProgressListener};

/// A server and the files it is built from.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddedProgram<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a str,
    /// The folder of its builds in the cache folder.
    pub(crate) cache: &'a str,
    /// The files by their paths below a common folder. The first is the `go.mod` of the module to build in.
    pub(crate) files: &'a [(&'a str, &'a str)],
    pub(crate) package: &'a str,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// What the first build takes, for the user.
    pub(crate) first_time: &'a str,
    /// Why it has to be built, for the message when Go is missing.
    pub(crate) need: &'a str,
}

impl EmbeddedProgram<'_> {
    /// The program; it is built now if it does not exist yet.
    ///
    /// # Errors
    /// When Go is missing (and what to install), the build fails, or a stop was requested.
    pub(crate) fn provide(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<PathBuf> {
        let folder = cache_folder()?.join(self.cache).join(self.key());
        let program = folder.join(self.program);
        if program.exists() {
            return Ok(program);
        }
        let _lock = Lock::take(&folder.with_extension("lock"), listener)?;
        // Another process that had the lock may have built it.
        if !program.exists() {
            self.build(&folder, &program, listener)?;
        }
        Ok(program)
    }

    /// What the build takes, if it was not made yet.
    pub(crate) fn build_to_come(&self) -> Option<String> {
        let folder = cache_folder().ok()?.join(self.cache).join(self.key());
        (!folder.join(self.program).exists()).then(|| self.first_time.to_owned())
    }

    fn build(
        &self,
        folder: &Path,
        program: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let go = Go::find(&self.toolchain(), listener).with_context(|| self.need.to_owned())?;
        let note = format!("{}; it goes to {}", self.first_time, folder.display());
        if listener(ProgressEvent::Note(&note)) == ControlFlow::Break(()) {
            bail!("interrupted before {} was built", self.name);
        }
        let files = folder.join("module");
        for (path, text) in self.files {
            write(&files.join(path), text)?;
        }
        let output = program.with_extension("part");
        let job = Build {
            name: self.name,
            module: &files.join(self.module()),
            package: self.package,
            toolchain: &self.toolchain(),
            arguments: &self.arguments,
            environment: &self.environment,
            output: &output,
            log: &folder.join("build.log"),
        };
        go.build(&job, listener)?;
        // A server gets its final name only once it is complete.
        fs::rename(&output, program).with_context(|| format!("cannot rename {}", output.display()))
    }

    /// The folder of the module to build in, below that of all files.
    fn module(&self) -> &Path {
        self.files.first().and_then(|(path, _)| Path::new(path).parent()).unwrap_or(Path::new(""))
    }

    /// The version of Go that the module names.
    pub(crate) fn toolchain(&self) -> String {
        let go_mod = self.files.first().map_or("", |(_, text)| text);
        let version = go_mod.lines().find_map(|line| line.strip_prefix("go "));
        format!("go{}", version.unwrap_or_default().trim())
    }

    /// A name that depends on everything that affects the output of a build.
    pub(crate) fn key(&self) -> String {
        let mut hash = Sha1::new();
        let files = self.files.iter().map(|(_, text)| (*text).to_owned());
        let decisive = files.chain([self.package, ARCH].map(str::to_owned));
        let decisive = decisive.chain(self.arguments.iter().cloned());
        let environment = self.environment.iter().map(|(name, value)| format!("{name}={value}"));
        for part in decisive.chain(environment) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The environment of a build for this level of x86-64 instructions. It is set even when it is the default, because
/// the user's environment may set another one.
pub(crate) fn level_environment(goamd64: Option<&str>) -> Vec<(String, String)> {
    vec![("GOAMD64".to_owned(), goamd64.unwrap_or("v1").to_owned())]
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
