//! Machines of several kinds, described by their files.

use std::fs;

use super::disk::{describe_device, describe_mount};
use super::*;

/// A folder with a machine's files, used in place of `/`.
fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn an_x86_machine_names_its_model_flags_and_topology() {
    let root = machine(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nmodel\t\t: 49\nmodel name\t: AMD EPYC 7K62\nflags\t\t: fpu vme hypervisor sse4_1 constant_tsc\n\n",
        ),
        ("sys/devices/system/cpu/online", "0-2,4\n"),
        ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0"),
        ("sys/devices/system/cpu/cpu0/topology/core_id", "0"),
        ("sys/devices/system/cpu/cpu1/topology/physical_package_id", "0"),
        ("sys/devices/system/cpu/cpu1/topology/core_id", "0"),
        ("sys/devices/system/cpu/cpu2/topology/physical_package_id", "1"),
        ("sys/devices/system/cpu/cpu2/topology/core_id", "0"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2600000\n"),
    ]);
    let cpu = cpu::gather(root.path());
    assert_eq!(cpu.model, "AMD EPYC 7K62");
    assert_eq!(cpu.flags, ["fpu", "vme", "hypervisor", "sse4_1", "constant_tsc"]);
    assert_eq!((cpu.sockets, cpu.cores, cpu.threads), (Some(2), Some(2), Some(4)));
    assert_eq!(
        (cpu.governor.as_deref(), cpu.frequency_mhz_max),
        (Some("performance"), Some(2600.0))
    );
    assert_eq!(system::gather(root.path()).virtualization.as_deref(), Some("virtual machine"));
}

#[test]
fn a_risc_v_machine_has_a_microarchitecture_and_joined_extensions() {
    let root = machine(&[(
        "proc/cpuinfo",
        "processor\t: 0\nhart\t\t: 2\nisa\t\t: rv64imafdc_zicntr_zba\nmmu\t\t: sv39\nuarch\t\t: thead,c920\n",
    )]);
    let cpu = cpu::gather(root.path());
    assert_eq!(cpu.model, "thead,c920");
    assert_eq!(cpu.flags, ["rv64imafdc", "zicntr", "zba"]);
    assert_eq!(cpu.threads, Some(1), "the list tells it where sysfs does not");
}

#[test]
fn an_arm_machine_without_a_name_goes_by_its_board_or_its_numbers() {
    let info = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
    let root = machine(&[("proc/cpuinfo", info)]);
    assert_eq!(cpu::gather(root.path()).model, "implementer 0x41 part 0xd0c");
    let root = machine(&[("proc/cpuinfo", info), ("proc/device-tree/model", "Raspberry Pi 5\0")]);
    let cpu = cpu::gather(root.path());
    assert_eq!((cpu.model.as_str(), cpu.flags.len()), ("Raspberry Pi 5", 2));
}

#[test]
fn a_machine_without_information_yields_none() {
    let root = machine(&[]);
    let cpu = cpu::gather(root.path());
    assert_eq!((cpu.model.as_str(), cpu.cores, cpu.governor), ("", None, None));
    assert_eq!(cpu.threads, None);
    assert_eq!(system::gather(root.path()), System::default());
    assert_eq!((memory_bytes(root.path()), load_average(root.path())), (None, None));
}

#[test]
fn the_operating_system_and_virtualization_are_detected() {
    let root = machine(&[
        ("etc/os-release", "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
        ("proc/sys/kernel/osrelease", "6.1.0-18\n"),
        ("proc/sys/kernel/ostype", "Linux\n"),
        ("proc/1/cgroup", "0::/kubepods/burstable/pod1\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n"),
        ("proc/loadavg", "0.50 1.25 2.00 1/234 5678\n"),
    ]);
    let system = system::gather(root.path());
    assert_eq!(system.os.as_deref(), Some("Debian GNU/Linux 12"));
    assert_eq!(system.kernel.as_deref(), Some("Linux 6.1.0-18"));
    let virtualization = system.virtualization.unwrap();
    assert_eq!(virtualization, "Kubernetes pod in QEMU virtual machine");
    assert_eq!(memory_bytes(root.path()), Some(2048 * 1024));
    assert_eq!(load_average(root.path()), Some([0.5, 1.25, 2.0]));
}

/// The begin of a program file for a processor: 64 bits, numbers with the least significant byte first.
fn program(machine: u8) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(20, 0);
    header[18] = machine;
    header
}

#[test]
fn an_emulator_is_found_by_the_program_that_the_kernel_runs() {
    let root = machine(&[("proc/thread-self/.keep", "")]);
    let emulator = root.path().join("qemu-riscv64");
    std::os::unix::fs::symlink(&emulator, root.path().join("proc/thread-self/exe")).unwrap();
    let found = |architecture: &str| emulation::gather(root.path(), architecture);
    assert_eq!(found("riscv64"), None, "there is no program yet");
    fs::write(&emulator, program(62)).unwrap();
    assert_eq!(found("riscv64").unwrap(), "emulation of riscv64 by qemu-riscv64 on x86_64");
    assert_eq!(found("x86_64"), None);
    assert_eq!(found("an architecture without a number"), None);
    fs::write(&emulator, program(243)).unwrap();
    assert_eq!(found("riscv64"), None);
    assert_eq!(found("aarch64").unwrap(), "emulation of aarch64 by qemu-riscv64 on riscv64");
    fs::write(&emulator, "#!/bin/sh\n# longer than a header\n").unwrap();
    assert_eq!(found("riscv64"), None);
}

#[test]
fn a_partition_has_the_model_of_its_disk() {
    let mounts = "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n\
                  30 22 0:21 / /tmp rw - tmpfs tmpfs rw\n";
    let mut disk = Disk::default();
    describe_mount(&mut disk, mounts, "259:2");
    assert_eq!(disk.filesystem.as_deref(), Some("ext4"));
    assert_eq!(disk.device.as_deref(), Some("/dev/nvme0n1p2"));
    assert_eq!(disk.options.as_deref(), Some("rw,relatime"));

    let root = machine(&[
        ("sys/devices/nvme0n1/queue/rotational", "0\n"),
        ("sys/devices/nvme0n1/device/model", "Fast Disk\n"),
        ("sys/devices/nvme0n1/nvme0n1p2/partition", "2\n"),
        ("sys/dev/block/.keep", "x"),
    ]);
    let device = root.path().join("sys/devices/nvme0n1/nvme0n1p2");
    std::os::unix::fs::symlink(device, root.path().join("sys/dev/block/259:2")).unwrap();
    describe_device(&mut disk, root.path(), "259:2");
    assert_eq!((disk.is_rotational, disk.model.as_deref()), (Some(false), Some("Fast Disk")));
}

#[test]
fn a_folder_that_is_not_there_yet_has_the_disk_of_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let here = disk::gather("results", folder.path());
    let later = disk::gather("results", &folder.path().join("not/yet"));
    assert_eq!((here.filesystem, here.device), (later.filesystem, later.device));
}
