//! The machine that a run ran on, as far as it can be determined. Nothing here fails: missing information is
//! left out.

mod cpu;
mod disk;
mod emulation;
mod system;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use cpu::usable_threads;

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

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// The model's name; empty when unknown.
    pub model: String,
    /// The instruction set, such as `x86_64` or `riscv64`.
    pub architecture: String,
    pub sockets: Option<u32>,
    pub cores: Option<u32>,
    pub threads: Option<u32>,
    /// Hardware threads that this process may use (affinity and control groups).
    pub usable_threads: Option<u32>,
    /// The highest clock rate, MHz.
    pub frequency_mhz_max: Option<f64>,
    pub governor: Option<String>,
    /// Instruction set extensions as the kernel names them.
    pub flags: Vec<String>,
}

/// The storage of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Purpose of the folder, such as `results` or `data`.
    pub purpose: String,
    pub path: String,
    /// The file system's type.
    pub filesystem: Option<String>,
    pub options: Option<String>,
    pub device: Option<String>,
    pub model: Option<String>,
    /// Whether the disk has rotating platters.
    pub is_rotational: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// The machine's name on the network.
    pub hostname: Option<String>,
    pub os: Option<String>,
    pub kernel: Option<String>,
    /// The emulator, container or hypervisor, when one is detected.
    pub virtualization: Option<String>,
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

/// A small file's text without surrounding white space; `None` when it is missing or empty.
fn read(root: &Path, path: &str) -> Option<String> {
    let text = fs::read(root.join(path)).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
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
