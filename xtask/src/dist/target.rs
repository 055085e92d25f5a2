//! The processors that dyno is built for, and the names that tools have for each.

use clap::ValueEnum;

/// A processor that dyno is built for, with Linux and glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    #[value(name = "x86_64")]
    X86_64,
    #[value(name = "aarch64")]
    Aarch64,
    #[value(name = "riscv64")]
    Riscv64,
}

impl Target {
    pub(crate) const ALL: [Self; 3] = [Self::X86_64, Self::Aarch64, Self::Riscv64];

    /// As Linux and `std::env::consts::ARCH` name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
            Self::Riscv64 => "riscv64",
        }
    }

    /// As Rust's compiler names it.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-gnu",
            Self::Aarch64 => "aarch64-unknown-linux-gnu",
            Self::Riscv64 => "riscv64gc-unknown-linux-gnu",
        }
    }

    /// As Debian names it.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
            Self::Riscv64 => "riscv64",
        }
    }

    /// As GNU names it; programs of the compiler begin with it.
    pub(crate) fn gnu(self) -> String {
        format!("{}-linux-gnu", self.name())
    }

    /// The program that runs its programs on the processor of the build, which is an x86-64; none for that one.
    pub(crate) fn emulator(self) -> Option<&'static str> {
        match self {
            Self::X86_64 => None,
            Self::Aarch64 => Some("qemu-aarch64-static"),
            Self::Riscv64 => Some("qemu-riscv64-static"),
        }
    }

    /// The path of its dynamic linker. Source: the ABI supplement of each processor, as in glibc's shlib-versions.
    pub(crate) fn dynamic_linker(self) -> &'static str {
        match self {
            Self::X86_64 => "lib64/ld-linux-x86-64.so.2",
            Self::Aarch64 => "lib/ld-linux-aarch64.so.1",
            Self::Riscv64 => "lib/ld-linux-riscv64-lp64d.so.1",
        }
    }

    /// The folder of its libraries in the build root.
    pub(crate) fn libraries(self) -> &'static str {
        match self {
            Self::X86_64 => "lib/x86_64-linux-gnu",
            Self::Aarch64 => "usr/aarch64-linux-gnu/lib",
            Self::Riscv64 => "usr/riscv64-linux-gnu/lib",
        }
    }

    /// Its number in program files. Source: System V Application Binary Interface, ELF header, `e_machine`.
    pub(crate) fn elf_machine(self) -> u8 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
            Self::Riscv64 => 243,
        }
    }
}
