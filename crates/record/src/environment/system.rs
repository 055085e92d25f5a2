//! The operating system, and detection of emulators, containers and virtual machines.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::emulation;
use super::text::read;

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// The machine's name on the network.
    pub hostname: Option<String>,
    /// The distribution.
    pub os: Option<String>,
    /// The kernel and its release.
    pub kernel: Option<String>,
    /// The emulator, container or hypervisor, when one is detected.
    pub virtualization: Option<String>,
}

pub(super) fn gather(root: &Path) -> System {
    System {
        hostname: read(root, "proc/sys/kernel/hostname"),
        os: read(root, "etc/os-release").as_deref().and_then(os_name),
        kernel: kernel(root),
        virtualization: virtualization(root),
    }
}

/// Source: os-release(5).
fn os_name(text: &str) -> Option<String> {
    let value = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

fn kernel(root: &Path) -> Option<String> {
    let release = read(root, "proc/sys/kernel/osrelease")?;
    let name = read(root, "proc/sys/kernel/ostype").unwrap_or_else(|| "Linux".to_owned());
    Some(format!("{name} {release}"))
}

/// The emulator, the container and the hypervisor, if detected. Signs of the latter two are the files that container
/// managers leave, control groups, the `hypervisor` flag, and the names in the firmware's tables.
fn virtualization(root: &Path) -> Option<String> {
    let emulation = emulation::gather(root, std::env::consts::ARCH);
    let signs: Vec<String> =
        emulation.into_iter().chain(container(root)).chain(hypervisor(root)).collect();
    (!signs.is_empty()).then(|| signs.join(" in "))
}

fn container(root: &Path) -> Option<String> {
    if root.join(".dockerenv").exists() {
        return Some("Docker container".to_owned());
    }
    if root.join("run/.containerenv").exists() {
        return Some("Podman container".to_owned());
    }
    let groups = read(root, "proc/1/cgroup").unwrap_or_default();
    let names = [
        ("kubepods", "Kubernetes pod"),
        ("docker", "Docker container"),
        ("lxc", "LXC container"),
        ("containerd", "container"),
    ];
    names.iter().find(|(sign, _)| groups.contains(sign)).map(|(_, name)| (*name).to_owned())
}

fn hypervisor(root: &Path) -> Option<String> {
    if let Some(kind) = read(root, "sys/hypervisor/type") {
        return Some(format!("{kind} virtual machine"));
    }
    let vendor = read(root, "sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = read(root, "sys/class/dmi/id/product_name").unwrap_or_default();
    let names = [
        ("QEMU", "QEMU virtual machine"),
        ("KVM", "KVM virtual machine"),
        ("VMware", "VMware virtual machine"),
        ("VirtualBox", "VirtualBox virtual machine"),
        ("Xen", "Xen virtual machine"),
        ("Amazon EC2", "Amazon EC2 instance"),
        ("Google Compute Engine", "Google Compute Engine instance"),
        ("Virtual Machine", "Hyper-V virtual machine"),
    ];
    let named = names.iter().find(|(sign, _)| vendor.contains(sign) || product.contains(sign));
    named.map(|(_, name)| (*name).to_owned()).or_else(|| {
        let info = read(root, "proc/cpuinfo")?;
        let has_flag = info.lines().any(|line| {
            line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
        });
        has_flag.then(|| "virtual machine".to_owned())
    })
}
