//! The storage of a folder: file system, device, disk.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use serde::{Deserialize, Serialize};

use super::text::read;

/// The storage of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Purpose of the folder, such as `results` or `data`.
    pub purpose: String,
    /// The folder.
    pub path: String,
    /// The file system's type.
    pub filesystem: Option<String>,
    /// Options of the mount.
    pub options: Option<String>,
    /// The device that is mounted.
    pub device: Option<String>,
    /// The disk's model.
    pub model: Option<String>,
    /// Whether the disk has rotating platters.
    pub is_rotational: Option<bool>,
}

pub(super) fn gather(purpose: &str, path: &Path) -> Disk {
    let mut disk =
        Disk { purpose: purpose.to_owned(), path: path.display().to_string(), ..Disk::default() };
    let Some(device) = existing(path).and_then(|path| fs::metadata(path).ok()).map(|m| m.dev())
    else {
        return disk;
    };
    let root = Path::new("/");
    let number = format!("{}:{}", major(device), minor(device));
    if let Some(mounts) = read(root, "proc/self/mountinfo") {
        describe_mount(&mut disk, &mounts, &number);
    }
    describe_device(&mut disk, root, &number);
    disk
}

/// The path or its nearest existing parent: the results folder may not exist yet.
fn existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find(|folder| folder.exists()).map(Path::to_path_buf)
}

/// Adds the mount table's entry of a device number. Source: proc_pid_mountinfo(5).
pub(super) fn describe_mount(disk: &mut Disk, mounts: &str, number: &str) {
    let found = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        (left.get(2) == Some(&number)).then(|| {
            let options = left.get(5).map(|options| (*options).to_owned());
            let text = |at: usize| right.get(at).map(|text| (*text).to_owned());
            (options, text(0), text(1))
        })
    });
    if let Some((options, filesystem, device)) = found {
        disk.options = options;
        disk.filesystem = filesystem;
        disk.device = device;
    }
}

/// Adds the sysfs data of a device number; for a partition, the queue of its parent.
pub(super) fn describe_device(disk: &mut Disk, root: &Path, number: &str) {
    let link = root.join("sys/dev/block").join(number);
    let Ok(folder) = fs::canonicalize(link) else { return };
    let whole = folder.ancestors().take(2).find(|folder| folder.join("queue").exists());
    let Some(whole) = whole else { return };
    disk.is_rotational = read(whole, "queue/rotational").map(|flag| flag == "1");
    disk.model = read(whole, "device/model");
}
