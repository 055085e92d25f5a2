//! The environment in run.json.

use serde::{Deserialize, Serialize};

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

/// Both ways between two structs with the same fields.
macro_rules! mirror {
    ($domain:ident, $file:ident, $($field:ident),+) => {
        impl From<$domain> for $file {
            fn from(from: $domain) -> Self {
                let $domain { $($field),+ } = from;
                Self { $($field),+ }
            }
        }

        impl From<$file> for $domain {
            fn from(from: $file) -> Self {
                let $file { $($field),+ } = from;
                Self { $($field),+ }
            }
        }
    };
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

impl From<Environment> for EnvironmentFile {
    fn from(from: Environment) -> Self {
        Self {
            cpu: from.cpu.into(),
            memory_bytes: from.memory_bytes,
            disks: from.disks.into_iter().map(Into::into).collect(),
            system: from.system.into(),
            load_average: from.load_average,
        }
    }
}

impl From<EnvironmentFile> for Environment {
    fn from(from: EnvironmentFile) -> Self {
        Self {
            cpu: from.cpu.into(),
            memory_bytes: from.memory_bytes,
            disks: from.disks.into_iter().map(Into::into).collect(),
            system: from.system.into(),
            load_average: from.load_average,
        }
    }
}
