//! Profiles of servers under load: those that Go programs serve (`net/http/pprof`), and those of `perf` for processes of
//! this machine.

#[cfg(test)]
mod fuzz;
mod perf;
mod pprof;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use measure::{Profile, ProfileOf, nanos};

use crate::{ProgressEvent, ProgressListener};

const STAGE: &str = "taking profiles";
/// Time between two checks whether the profiles are still wanted.
const POLL_PERIOD: Duration = Duration::from_millis(50);
/// How much longer than its time a profile may take.
const ANSWER_BOUND: Duration = Duration::from_secs(10);

/// Profiles that were taken, and why others were not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiles {
    pub taken: Vec<Profile>,
    pub missing: Vec<String>,
}

/// A server that tells figures of itself over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub name: String,
    pub url: String,
}

/// Takes the profiles of all servers at once, for so long. Where no page has any, `perf` looks at the processes.
pub fn take(
    pages: &[Page],
    processes: &[u32],
    span: Duration,
    listener: &mut ProgressListener<'_>,
) -> Profiles {
    let mut found = of_pages(pages, span, listener);
    let is_wanted = listener(ProgressEvent::stage(STAGE)).is_continue();
    if found.taken.is_empty() && is_wanted {
        match perf::take(processes, span, listener) {
            Ok(profile) => found.taken.push(profile),
            Err(error) => found.missing.push(format!("{error:#}")),
        }
    }
    found
}

fn of_pages(pages: &[Page], span: Duration, listener: &mut ProgressListener<'_>) -> Profiles {
    let (sender, results) = mpsc::channel();
    for page in pages {
        for of in [ProfileOf::Cpu, ProfileOf::Locks] {
            let (sender, page) = (sender.clone(), page.clone());
            let work = move || {
                // Nobody may wait for it any more.
                let _ = sender.send((page.name.clone(), of, of_page(&page, of, span)));
            };
            // Without a thread the channel has a sender less, and the profile is missing.
            let _ = thread::Builder::new().name("profile".to_owned()).spawn(work);
        }
    }
    drop(sender);
    let mut found = Profiles::default();
    loop {
        match results.recv_timeout(POLL_PERIOD) {
            Ok((_, _, Ok(profile))) => found.taken.push(profile),
            Ok((name, of, Err(why))) => {
                let what = if of == ProfileOf::Cpu { "CPU profile" } else { "profile of locks" };
                found.missing.push(format!("no {what} of {name}: {why}"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if listener(ProgressEvent::stage(STAGE)).is_break() {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    found.taken.sort_by(|one, other| {
        let key = |it: &Profile| (it.server.clone(), it.of == ProfileOf::Locks);
        key(one).cmp(&key(other))
    });
    found.missing.sort();
    found
}

/// Source: Go's `net/http/pprof`: `profile` samples the CPU for so many seconds, and `mutex` gives what came in so many.
fn of_page(page: &Page, of: ProfileOf, span: Duration) -> Result<Profile, String> {
    let base = base(&page.url).ok_or("its address is none of a server")?;
    let path = if of == ProfileOf::Cpu { "profile" } else { "mutex" };
    let url = format!("{base}/debug/pprof/{path}?seconds={}", span.as_secs().max(1));
    let bytes = crate::watch::read_bytes(&url, span + ANSWER_BOUND, pprof::BYTES_MAX)?;
    let profile = pprof::read(&bytes, (&page.name, of, nanos(span)))?;
    match (profile.stacks.is_empty(), of) {
        (false, _) => Ok(profile),
        (true, ProfileOf::Cpu) => Err("it has no samples: the server had no CPU time".to_owned()),
        (true, ProfileOf::Locks) => {
            Err("nothing waited for a lock, or the program does not record it".to_owned())
        }
    }
}

/// The scheme and the host of a URL.
fn base(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    (end > host).then(|| &url[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_on_the_host_of_the_page() {
        assert_eq!(base("http://127.0.0.1:10080/metrics"), Some("http://127.0.0.1:10080"));
        assert_eq!(base("https://db?x=/y"), Some("https://db"));
        assert_eq!(base("http://[::1]:9"), Some("http://[::1]:9"));
        assert_eq!((base("http:///x"), base("metrics")), (None, None));
    }
}
