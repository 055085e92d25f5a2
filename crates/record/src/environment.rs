//! The machine that a run ran on, as far as it can be determined. Nothing here fails: missing information is
//! left out.

mod cpu;
mod disk;
mod emulation;
mod system;
mod text;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use cpu::{Cpu, usable_threads};
pub use disk::Disk;
pub use system::System;
use text::read;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    pub cpu: Cpu,
    pub memory_bytes: Option<u64>,
    /// The storage of the folders that matter: results and data.
    pub disks: Vec<Disk>,
    pub system: System,
    /// Load average over 1, 5 and 15 minutes when the run began.
    pub load_average: Option<[f64; 3]>,
}

impl Environment {
    /// Collects the environment. `folders` are the folders that matter, each with its purpose.
    pub fn gather(folders: &[(&str, &Path)]) -> Self {
        let root = Path::new("/");
        Self {
            cpu: cpu::gather(root),
            memory_bytes: memory_bytes(root),
            disks: folders.iter().map(|(purpose, path)| disk::gather(purpose, path)).collect(),
            system: system::gather(root),
            load_average: load_average(root),
        }
    }
}

/// Source: proc_meminfo(5), where kB means 1,024 bytes.
fn memory_bytes(root: &Path) -> Option<u64> {
    let text = read(root, "proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// Source: proc_loadavg(5).
fn load_average(root: &Path) -> Option<[f64; 3]> {
    let text = read(root, "proc/loadavg")?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

#[cfg(test)]
mod tests;
