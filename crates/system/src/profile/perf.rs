//! Samples of processes of this machine by Linux's `perf`, where it is installed and allowed.

use std::time::Duration;

use anyhow::{Context, bail};
use measure::{Nanos, Profile, ProfileOf, nanos};

use crate::ProgressListener;
use crate::process::command;
use crate::subprocess::output_of;

/// Samples of each CPU in a second; no divisor of what programs do at round times.
const PER_SECOND: u64 = 499;
/// The time that one sample stands for.
const SAMPLE_NS: Nanos = 1_000_000_000 / PER_SECOND;
/// How long `perf` may take to begin, to end and to name the functions.
const BOUND: Duration = Duration::from_secs(30);
/// A library's name stands for a function without one.
const UNKNOWN: &str = "[unknown]";

/// Samples all threads of the processes while they have a CPU.
///
/// # Errors
/// Where there is no `perf`, or the kernel allows it nothing.
pub(super) fn take(
    processes: &[u32],
    span: Duration,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Profile> {
    if processes.is_empty() {
        bail!("no profile: no process of the server is known on this machine");
    }
    let folder = tempfile::tempdir().context("no folder for a profile")?;
    let data = folder.path().join("perf.data");
    let list: Vec<String> = processes.iter().map(u32::to_string).collect();
    let mut record = command("perf");
    record.args(["record", "--quiet", "--event", "cpu-clock", "--call-graph", "fp"]);
    record.args(["--freq", &PER_SECOND.to_string(), "--pid", &list.join(","), "--output"]);
    record.arg(&data).args(["--", "sleep", &span.as_secs_f64().to_string()]);
    output_of(record, "perf record", span + BOUND, listener)
        .context("no profile: the server has none at /debug/pprof, and perf is not to be had")?;
    let mut script = command("perf");
    script.args(["script", "--no-inline", "--fields", "comm,ip,sym,dso", "--input"]).arg(&data);
    let text = output_of(script, "perf script", BOUND, listener).context("no profile")?;
    let stacks = stacks(&text).into_iter().map(|frames| (frames, SAMPLE_NS));
    let profile = Profile::new(("the server", ProfileOf::Cpu, nanos(span)), stacks);
    if profile.stacks.is_empty() {
        bail!("no profile: perf saw none of the server's threads on a CPU");
    }
    Ok(profile)
}

/// The stacks of `perf script`: a line with the thread's name, one for each function from the innermost to the outermost, and
/// an empty one.
fn stacks(text: &str) -> Vec<Vec<String>> {
    let samples = text.split("\n\n").filter_map(|sample| {
        let mut lines = sample.lines().filter(|line| !line.trim().is_empty());
        let thread = lines.next()?.trim();
        let mut frames: Vec<String> = lines.filter_map(frame).collect();
        if frames.is_empty() {
            return None;
        }
        // What has no name is one place for each library.
        frames.dedup_by(|one, other| one == other && one.starts_with('['));
        frames.push(thread.to_owned());
        frames.reverse();
        Some(frames)
    });
    samples.collect()
}

/// `55d1c0 name+0x1a (/usr/sbin/server)`.
fn frame(line: &str) -> Option<String> {
    let (_, rest) = line.trim().split_once(' ')?;
    let (symbol, library) = rest.rsplit_once(" (")?;
    if symbol != UNKNOWN {
        return Some(symbol.split("+0x").next().unwrap_or(symbol).to_owned());
    }
    let library = library.trim_end_matches(')');
    let library = library.rsplit('/').next().unwrap_or(library);
    Some(format!("[{library}]").replace("[[", "[").replace("]]", "]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_begin_with_the_thread_and_unnamed_places_have_their_library() {
        let text = "io worker \n\t   55d1c0 do_read+0x1a (/usr/sbin/db)\n\t   55d000 [unknown] (/usr/lib/libc.so.6)\n\
                    \t   55d004 [unknown] (/usr/lib/libc.so.6)\n\nmain \n\t  ffff schedule ([kernel.kallsyms])\n\n";
        let expected = [vec!["io worker", "[libc.so.6]", "do_read"], vec!["main", "schedule"]];
        assert_eq!(stacks(text), expected);
        assert_eq!(stacks("\n\nwarning\n"), Vec::<Vec<String>>::new());
        assert_eq!(frame("  7 [unknown] ([kernel.kallsyms])").unwrap(), "[kernel.kallsyms]");
    }
}
