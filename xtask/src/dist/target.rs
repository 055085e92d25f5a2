//! The processors that dyno is built for, and the names that tools have for each.

use std::str::FromStr;

/// A processor that dyno is built for, with Linux and glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As Linux and `std::env::consts::ARCH` name it.
    pub(crate) name: &'static str,
    /// As Rust's compiler names it.
    pub(crate) triple: &'static str,
    /// As Debian names it.
    pub(crate) debian: &'static str,
    /// The folder of its dynamic linker. Source: each processor's ABI supplement, as in glibc's shlib-versions.
    pub(crate) linker_folder: &'static str,
}

impl Target {
    pub(crate) const X86_64: Self = Self {
        name: "x86_64",
        triple: "x86_64-unknown-linux-gnu",
        debian: "amd64",
        linker_folder: "lib64",
    };
    pub(crate) const AARCH64: Self = Self {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        debian: "arm64",
        linker_folder: "lib",
    };
    pub(crate) const RISCV64: Self = Self {
        name: "riscv64",
        triple: "riscv64gc-unknown-linux-gnu",
        debian: "riscv64",
        linker_folder: "lib",
    };
    pub(crate) const ALL: [Self; 3] = [Self::X86_64, Self::AARCH64, Self::RISCV64];

    /// Whether its programs run under an emulator: builds are made on an x86-64.
    pub(crate) fn is_emulated(self) -> bool {
        self != Self::X86_64
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|target| target.name == name);
        found.ok_or_else(|| format!("one of {}", Self::ALL.map(|target| target.name).join(", ")))
    }
}
