//! Builds dyno: for a task on this machine, or as archives and Debian packages for all processors.

mod archive;
mod compile;
mod image;
mod licences;
mod target;
mod tools;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;

use crate::interrupt::Interrupt;
use crate::{needs, paths, shell};
use archive::Staged;

pub(crate) use compile::{Program, Sources};
pub(crate) use target::Target;
pub(crate) use tools::{Source, Tools};

/// The profile of what is handed out.
pub(crate) const PROFILE: &str = "dist";
/// What the tools and their use take.
pub(crate) const NEEDS: [needs::Need; 4] =
    [needs::COMPILER, needs::MMDEBSTRAP, needs::PIP, needs::QEMU];

/// The folder of the build.
pub(crate) const FOLDER: &str = "build";
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

/// What `cargo xtask dist` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Processor to build for; may be repeated [default: all]
    #[arg(long = "target")]
    targets: Vec<Target>,
    /// Build a second time in another folder, and fail when a byte differs
    #[arg(long)]
    twice: bool,
    /// Write container images too, with buildah
    #[arg(long)]
    images: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    install: needs::Install,
}

/// Builds the archives and packages of the checked-out commit, and prints their paths and sizes.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let for_images: &[needs::Need] = if arguments.images { &[needs::BUILDAH] } else { &[] };
    arguments.install.provide(&[&NEEDS[..], for_images].concat(), &interrupt)?;
    let tools = Tools::provide(&arguments.source, &interrupt)?;
    let made = hand_out(&tools, FOLDER, arguments, &interrupt)?;
    if arguments.twice {
        let again = hand_out(&tools, AGAIN, arguments, &interrupt)?;
        for (first, second) in made.iter().zip(&again) {
            let (one, other) = (first.display(), second.display());
            ensure!(fs::read(first)? == fs::read(second)?, "{one} and {other} differ");
        }
        println!("both builds gave the same bytes");
    }
    for path in &made {
        println!("{} ({} KiB)", path.display(), fs::metadata(path)?.len() / 1024);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds everything in a folder of that name; returns the files.
fn hand_out(
    tools: &Tools,
    name: &str,
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<PathBuf>> {
    let sources = Sources::check_out(tools, name, interrupt)?;
    let mut folder = paths::target().join("archives").join(sources.commit.short());
    if name == AGAIN {
        folder.push(AGAIN);
    }
    fs::create_dir_all(&folder)?;
    let all = if arguments.targets.is_empty() { &Target::ALL } else { &arguments.targets[..] };
    let mut made = Vec::new();
    for program in sources.compile(all, interrupt)? {
        let staged = Staged::gather(&sources, &program, interrupt)?;
        made.push(staged.pack(&folder, interrupt)?);
        made.push(staged.pack_debian(&folder, interrupt)?);
        if arguments.images {
            made.push(image::write(&staged, &folder, interrupt)?);
        }
    }
    // As `sha256sum --check` reads it; other processors' files may be of another run.
    let mut sums = shell::command("sh", &["-c", "sha256sum dyno* > SHA256SUMS"]);
    shell::output(sums.env("LC_ALL", "C").current_dir(&folder))?;
    Ok(made)
}

/// Builds with a profile of cargo's for this machine, and returns the binary's path.
fn build(profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--profile", profile, "--package", "dyno-bench"]);
    shell::must(&mut build, interrupt)?;
    Ok(paths::target().join(profile).join("dyno"))
}
