//! The shared memory of a server that was killed, which the kernel keeps: only the server itself removes it, when it
//! starts again on the same data.
//!
//! There is a small segment of System V, which a process of the server holds as long as it lives, so that no other starts
//! on the same data. It names a segment of POSIX, a file in `/dev/shm`, which lists all others of that kind.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::libc;

/// The line of `postmaster.pid` with the key and the number of the segment. Source: PostgreSQL's `pidfile.h`.
const LINE: usize = 6;
/// Looks whether the last process has ended: two seconds of them.
const LOOKS: usize = 100;
const LOOK_PERIOD: Duration = Duration::from_millis(20);

/// The number of the segment of the server that runs on this data folder, or has been killed there.
pub(super) fn segment(data: &Path) -> Option<i32> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines().nth(LINE)?.split_whitespace().nth(1)?.parse().ok()
}

/// Removes the segment of a server whose first process has ended; its others end when they see that. One that is
/// another's by now stays.
pub(super) fn remove(data: &Path) {
    let (Some(segment), Ok(data)) = (segment(data), fs::metadata(data)) else { return };
    for _ in 0..LOOKS {
        match users(segment, data.uid()) {
            Some(0) => {
                remove_listed(segment, data.uid());
                return mark_removed(segment);
            }
            Some(_) => thread::sleep(LOOK_PERIOD),
            None => return,
        }
    }
}

/// Removes the files of a segment of System V that nobody uses.
fn remove_listed(segment: i32, user: u32) {
    let Some(control) = control(segment) else { return };
    let is_own = |file: &Path| {
        file.symlink_metadata().is_ok_and(|seen| seen.is_file() && seen.uid() == user)
    };
    let control = file_of(control);
    let list = if is_own(&control) { fs::read(&control).unwrap_or_default() } else { Vec::new() };
    let listed = listed(&list).into_iter().map(file_of);
    for file in listed.chain([control]).filter(|file| is_own(file)) {
        // What cannot be removed stays: there is nobody to tell.
        let _ = fs::remove_file(file);
    }
}

/// The file of a segment of POSIX. Source: PostgreSQL's `dsm_impl.c`.
pub(super) fn file_of(handle: u32) -> PathBuf {
    PathBuf::from(format!("/dev/shm/PostgreSQL.{handle}"))
}

/// The handles in a list of segments. Source: PostgreSQL 14 to 18, `dsm.c`: a magic number, how many items there are and may
/// be, and items of 40 bytes, each with a handle and how many use it.
fn listed(list: &[u8]) -> Vec<u32> {
    const MAGIC: u32 = 0x9a50_3d32;
    const HEAD_BYTES: usize = 16;
    const ITEM_BYTES: usize = 40;
    let number = |at: usize| {
        let bytes = list.get(at..at + 4)?.first_chunk()?;
        Some(u32::from_ne_bytes(*bytes))
    };
    if number(0) != Some(MAGIC) {
        return Vec::new();
    }
    let items = number(4).unwrap_or_default() as usize;
    let all = (0..items.min(list.len() / ITEM_BYTES)).map(|item| HEAD_BYTES + item * ITEM_BYTES);
    let used = all.filter(|at| number(at + 4).is_some_and(|users| users > 0));
    used.filter_map(number).collect()
}

/// The handle of the list of segments that a segment of System V names. Source: `PGShmemHeader` of PostgreSQL's `pg_shmem.h`:
/// a magic number, a process, two sizes, and the handle.
#[expect(
    unsafe_code,
    reason = "there is no safe door to shared memory of System V; the segment is as long as what is read, and read-only"
)]
pub(super) fn control(segment: i32) -> Option<u32> {
    const MAGIC: u32 = 679_834_894;
    const HANDLE: usize = 24;
    const HEAD_BYTES: usize = HANDLE + 4;
    let mut seen: libc::shmid_ds = unsafe { std::mem::zeroed() };
    let told = unsafe { libc::shmctl(segment, libc::IPC_STAT, &raw mut seen) };
    if told != 0 || (seen.shm_segsz as usize) < HEAD_BYTES {
        return None;
    }
    let start = unsafe { libc::shmat(segment, std::ptr::null(), libc::SHM_RDONLY) };
    if start.addr() == usize::MAX {
        return None;
    }
    let mut head = [0; HEAD_BYTES];
    unsafe {
        std::ptr::copy_nonoverlapping(start.cast::<u8>(), head.as_mut_ptr(), HEAD_BYTES);
        libc::shmdt(start);
    }
    let number = |at: usize| head[at..].first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
    (number(0) == Some(MAGIC)).then(|| number(HANDLE)).flatten()
}

/// How many processes use a segment of this user; `None` when there is none.
#[expect(
    unsafe_code,
    reason = "there is no safe door to shared memory of System V; the kernel fills a struct of this stack"
)]
fn users(segment: i32, user: u32) -> Option<u64> {
    let mut seen: libc::shmid_ds = unsafe { std::mem::zeroed() };
    let told = unsafe { libc::shmctl(segment, libc::IPC_STAT, &raw mut seen) };
    (told == 0 && seen.shm_perm.uid == user).then_some(seen.shm_nattch)
}

#[expect(
    unsafe_code,
    reason = "there is no safe door to shared memory of System V; the kernel reads and writes no memory here"
)]
fn mark_removed(segment: i32) {
    // An error means that it is not there any more.
    let _ = unsafe { libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_segments_has_those_that_are_used() {
        let mut list = Vec::new();
        for number in [0x9a50_3d32_u32, 3, 100, 0] {
            list.extend(number.to_ne_bytes());
        }
        for (handle, users) in [(7_u32, 2_u32), (8, 0), (9, 1)] {
            list.extend(handle.to_ne_bytes());
            list.extend(users.to_ne_bytes());
            list.extend([0; 32]);
        }
        assert_eq!(listed(&list), [7, 9]);
        assert_eq!(listed(&list[..60]), [7]);
        assert_eq!(listed(&[0; 100]), [0; 0]);
    }
}
