//! The shared memory of a server that was killed, which the kernel keeps: only the server itself removes it.
//!
//! A server holds a small segment as long as a process of it lives, so that no other starts on the same data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
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
            Some(0) => return mark_removed(segment),
            Some(_) => thread::sleep(LOOK_PERIOD),
            None => return,
        }
    }
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
