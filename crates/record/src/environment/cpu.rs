//! The processors. Their description differs by instruction set: x86 has `model name` and `flags`, ARM has
//! `Features` and often only numbers in place of a name, RISC-V has `isa` and `uarch`, and a device tree may
//! name the board.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use serde::{Deserialize, Serialize};

use super::text::read;

/// Keys that name the processor, the best first. Source: the `show_cpuinfo` of each architecture in
/// Linux.
const MODEL_KEYS: [&str; 7] =
    ["model name", "Model Name", "cpu model", "uarch", "cpu", "Processor", "Hardware"];

const FLAG_KEYS: [&str; 4] = ["flags", "Features", "features", ISA_KEY];
/// The key of RISC-V, which joins its extensions with underscores. Elsewhere an underscore is part of a name, such
/// as `sse4_1`.
const ISA_KEY: &str = "isa";

/// The processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// The model's name; empty when unknown.
    pub model: String,
    /// The instruction set, such as `x86_64` or `riscv64`.
    pub architecture: String,
    /// Sockets.
    pub sockets: Option<u32>,
    /// Physical cores that are online.
    pub cores: Option<u32>,
    /// Hardware threads that are online.
    pub threads: Option<u32>,
    /// Hardware threads that this process may use (affinity and control groups).
    pub usable_threads: Option<u32>,
    /// The highest clock rate, MHz.
    pub frequency_mhz_max: Option<f64>,
    /// The frequency governor.
    pub governor: Option<String>,
    /// Instruction set extensions as the kernel names them.
    pub flags: Vec<String>,
}

pub(super) fn gather(root: &Path) -> Cpu {
    let info = read(root, "proc/cpuinfo").unwrap_or_default();
    let (sockets, cores) = topology(root);
    Cpu {
        model: model(root, &info),
        architecture: std::env::consts::ARCH.to_owned(),
        sockets,
        cores,
        threads: online(root).or_else(|| listed(&info)),
        usable_threads: usable_threads(),
        frequency_mhz_max: read(root, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
            .and_then(|khz| khz.parse::<f64>().ok())
            .map(|khz| khz / 1e3),
        governor: read(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        flags: flags(&info),
    }
}

/// The hardware threads that this process may use.
pub fn usable_threads() -> Option<u32> {
    thread::available_parallelism().ok()?.get().try_into().ok()
}

/// The first value of a key in /proc/cpuinfo.
fn value<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

fn model(root: &Path, info: &str) -> String {
    let named = MODEL_KEYS.iter().find_map(|key| value(info, key)).map(str::to_owned);
    named
        .or_else(|| board(root))
        .or_else(|| {
            let implementer = value(info, "CPU implementer")?;
            let part = value(info, "CPU part")?;
            Some(format!("implementer {implementer} part {part}"))
        })
        .unwrap_or_default()
}

fn board(root: &Path) -> Option<String> {
    let name = read(root, "proc/device-tree/model")?;
    Some(name.trim_end_matches('\0').to_owned())
}

fn flags(info: &str) -> Vec<String> {
    let found = FLAG_KEYS.iter().find_map(|key| Some((*key, value(info, key)?)));
    let Some((key, text)) = found else { return Vec::new() };
    text.split(|c: char| c.is_whitespace() || key == ISA_KEY && c == '_')
        .filter(|flag| !flag.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Sockets and physical cores that are online, from sysfs.
fn topology(root: &Path) -> (Option<u32>, Option<u32>) {
    let mut sockets = BTreeSet::new();
    let mut cores = BTreeSet::new();
    let folder = root.join("sys/devices/system/cpu");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let socket = read(&path, "topology/physical_package_id");
        let core = read(&path, "topology/core_id");
        if let (Some(socket), Some(core)) = (socket, core) {
            cores.insert((socket.clone(), core));
            sockets.insert(socket);
        }
    }
    let count = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0);
    (count(sockets.len()), count(cores.len()))
}

/// Hardware threads in a list of ranges such as `0-3,8`. Source: Linux, cputopology.
fn online(root: &Path) -> Option<u32> {
    let text = read(root, "sys/devices/system/cpu/online")?;
    text.split(',').map(range_length).sum()
}

/// The hardware threads in /proc/cpuinfo, for containers without sysfs. Source: the `show_cpuinfo` of x86, ARM and
/// RISC-V in Linux.
fn listed(info: &str) -> Option<u32> {
    let keys = info.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
    u32::try_from(keys.filter(|key| *key == "processor").count()).ok().filter(|count| *count > 0)
}

fn range_length(range: &str) -> Option<u32> {
    match range.split_once('-') {
        None => range.parse::<u32>().ok().map(|_| 1),
        Some((first, last)) => {
            last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
        }
    }
}
