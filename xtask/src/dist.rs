//! Builds dyno: for a task on this machine, or as archives and Debian packages for all processors.

mod archive;
mod build_root;
mod compile;
mod crates;
mod debian;
mod image;
mod licences;
mod sbom;
mod symbols;
mod target;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::interrupt::Interrupt;
use crate::{needs, paths, shell};
use archive::Staged;

pub(crate) use build_root::{BuildRoot, Source};
pub(crate) use compile::{Program, Sources};
pub(crate) use target::Target;

/// The profile of what is handed out.
pub(crate) const PROFILE: &str = "dist";
/// What the build root and the packages take.
pub(crate) const NEEDS: [needs::Need; 2] = [needs::MMDEBSTRAP, needs::DPKG_DEB];

/// The folder of the build.
pub(crate) const FOLDER: &str = "dist";
/// The folder of the second build, and of its results.
const AGAIN: &str = "again";

/// A dyno for a task.
#[derive(Args)]
pub(crate) struct Binary {
    /// A dyno that is already built, instead of building one
    #[arg(long)]
    dyno: Option<PathBuf>,
}

impl Binary {
    /// Its path; it is built with `profile` when none is named.
    pub(crate) fn provide(&self, profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        match &self.dyno {
            Some(dyno) => dyno.canonicalize().with_context(|| format!("no {}", dyno.display())),
            None => build(profile, interrupt),
        }
    }
}

/// How dyno is built for other machines.
#[derive(Args)]
pub(crate) struct CrossBuild {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many jobs compile at the same time
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
}

/// What `cargo xtask dist` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Processor to build for; may be repeated [default: all]
    #[arg(long = "target", value_enum)]
    targets: Vec<Target>,
    /// Build a second time in another folder, and fail when a byte differs
    #[arg(long)]
    twice: bool,
    /// Write container images too, with buildah
    #[arg(long)]
    images: bool,
    #[command(flatten)]
    build: CrossBuild,
    #[command(flatten)]
    install: needs::Install,
}

/// Builds the archives and packages of the checked-out commit, and prints their paths and sizes.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let for_images: &[needs::Need] = if arguments.images { &[needs::BUILDAH] } else { &[] };
    arguments.install.provide(&[&NEEDS[..], for_images].concat(), &interrupt)?;
    let root = BuildRoot::provide(&arguments.build.source, &interrupt)?;
    let made = hand_out(&root, FOLDER, arguments, &interrupt)?;
    if arguments.twice {
        let again = hand_out(&root, AGAIN, arguments, &interrupt)?;
        for (first, second) in made.iter().zip(&again) {
            compare(first, second)?;
        }
        println!("both builds gave the same bytes");
    }
    for path in &made {
        println!("{} ({} KiB)", path.display(), fs::metadata(path)?.len() / 1024);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds everything in a folder of the root, with that name; returns the files.
fn hand_out(
    root: &BuildRoot,
    name: &str,
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<PathBuf>> {
    let sources = Sources::unpack(root, name, arguments.build.jobs, interrupt)?;
    let mut folder = paths::target().join("archives").join(sources.commit.short());
    if name == AGAIN {
        folder.push(AGAIN);
    }
    fs::create_dir_all(&folder)?;
    let all = if arguments.targets.is_empty() { &Target::ALL } else { &arguments.targets[..] };
    let mut made = Vec::new();
    for target in all {
        let program = sources.compile(*target, interrupt)?;
        let staged = Staged::gather(&sources, &program, interrupt)?;
        made.push(staged.pack(&folder, interrupt)?);
        made.push(debian::write(&staged, &folder, interrupt)?);
        if arguments.images {
            made.push(image::write(&staged, &folder, interrupt)?);
        }
    }
    archive::write_checksums(&folder)?;
    Ok(made)
}

/// Refuses two files that are not the same.
fn compare(first: &Path, second: &Path) -> anyhow::Result<()> {
    if fs::read(first)? == fs::read(second)? {
        return Ok(());
    }
    bail!("the second build differs: compare {} and {}", first.display(), second.display())
}

/// Builds with a profile of cargo's for this machine, and returns the binary's path.
fn build(profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--profile", profile, "--package", "dyno-bench"]);
    shell::must(&mut build, interrupt)?;
    Ok(paths::target().join(profile).join("dyno"))
}
