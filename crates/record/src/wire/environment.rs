//! The environment in run.json.

use serde::{Deserialize, Serialize};

use super::mirror::mirror;
use crate::{Cpu, Disk, Environment, System};

#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct EnvironmentFile {
    cpu: CpuFile,
    memory_bytes: Option<u64>,
    disks: Vec<DiskFile>,
    system: SystemFile,
    load_average: Option<[f64; 3]>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct CpuFile {
    model: String,
    architecture: String,
    sockets: Option<u32>,
    cores: Option<u32>,
    threads: Option<u32>,
    usable_threads: Option<u32>,
    frequency_mhz_max: Option<f64>,
    governor: Option<String>,
    flags: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DiskFile {
    purpose: String,
    path: String,
    filesystem: Option<String>,
    options: Option<String>,
    device: Option<String>,
    model: Option<String>,
    is_rotational: Option<bool>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct SystemFile {
    hostname: Option<String>,
    os: Option<String>,
    kernel: Option<String>,
    virtualization: Option<String>,
}

mirror!(
    Cpu,
    CpuFile,
    model,
    architecture,
    sockets,
    cores,
    threads,
    usable_threads,
    frequency_mhz_max,
    governor,
    flags
);
mirror!(Disk, DiskFile, purpose, path, filesystem, options, device, model, is_rotational);
mirror!(System, SystemFile, hostname, os, kernel, virtualization);

mirror!(Environment, EnvironmentFile, memory_bytes, load_average; into cpu, system; each disks);
