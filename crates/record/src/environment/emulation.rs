//! Detection of an emulated processor: a program that interprets the instructions of dyno, which was compiled for
//! another processor. What the machine says of its processors is then that of the emulator's host.
//!
//! Such an emulator shows dyno's own file as `/proc/self/exe`, and names the emulated architecture in uname. Through
//! `/proc/thread-self`, the kernel still shows the program that it has started, which is the emulator.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The kernel's link to the program that it runs.
const PROGRAM: &str = "proc/thread-self/exe";

/// Architectures as `std::env::consts::ARCH` names them, with their numbers in program files. Source: System V
/// Application Binary Interface, ELF header, `e_machine`.
const MACHINES: [(&str, u16); 8] = [
    ("x86", 3),
    ("powerpc64", 21),
    ("s390x", 22),
    ("arm", 40),
    ("x86_64", 62),
    ("aarch64", 183),
    ("riscv64", 243),
    ("loongarch64", 258),
];

/// The emulation in which a program for `architecture` runs, if it is emulated.
pub(super) fn gather(root: &Path, architecture: &str) -> Option<String> {
    let program = root.join(PROGRAM);
    let host = machine(&program)?;
    if host == architecture || !MACHINES.iter().any(|(name, _)| *name == architecture) {
        return None;
    }
    let target = fs::read_link(&program).ok();
    let name = target.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let by = name.map_or_else(String::new, |name| format!(" by {name}"));
    Some(format!("emulation of {architecture}{by} on {host}"))
}

fn machine(program: &Path) -> Option<&'static str> {
    let mut header = [0; 20];
    File::open(program).ok()?.read_exact(&mut header).ok()?;
    if !header.starts_with(b"\x7fELF") {
        return None;
    }
    // The sixth byte says whether numbers begin with their most significant byte.
    let bytes = [header[18], header[19]];
    let number = if header[5] == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    MACHINES.iter().find(|(_, machine)| *machine == number).map(|(name, _)| *name)
}
