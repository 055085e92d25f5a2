//! Sends all metrics to an OpenTelemetry collector once an interval: OTLP over HTTP, protobuf.
//!
//! Every send has the sums since the begin of the run, so what a lost one had is in the next. A collector that is away or
//! slow delays nothing but the thread that sends, and is told of once, at the end.

mod messages;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use prost::Message;
use system::http;

use super::counts::Counts;
use messages::{Answer, request};

/// What is waiting to be sent, at most.
const QUEUE_MAX: usize = 16;
/// How long one send may take.
const SEND_BOUND: Duration = Duration::from_secs(5);
/// The longest answer, bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// The place of metrics at a collector.
const PLACE: &str = "/v1/metrics";

/// The URL to send to.
///
/// # Errors
/// When it is none of HTTP without TLS.
pub(super) fn url(text: &str) -> Result<String, String> {
    let Some(rest) = text.strip_prefix("http://") else {
        let why = match text.starts_with("https://") {
            true => {
                "dyno sends without TLS; run a collector on this machine, which sends on with it"
            }
            false => "it takes a URL such as http://127.0.0.1:4318",
        };
        return Err(why.to_owned());
    };
    let is_host = |part: &str| !part.is_empty() && !part.starts_with([':', '@', '?', '#']);
    if !is_host(rest.split('/').next().unwrap_or_default())
        || rest.contains(['?', '#'])
        || rest.contains(|it: char| it.is_whitespace() || it.is_control())
    {
        return Err("it takes a URL such as http://127.0.0.1:4318".to_owned());
    }
    let base = text.trim_end_matches('/');
    Ok(if base.ends_with(PLACE) { base.to_owned() } else { format!("{base}{PLACE}") })
}

/// Sums of a run at a time.
struct Snapshot {
    at: Timestamp,
    counts: Arc<Counts>,
}

/// The sends of a run to its collector.
pub(super) struct Collecting {
    url: String,
    queue: SyncSender<Snapshot>,
    /// Snapshots for which there was no place.
    refused: AtomicU64,
    is_ending: Arc<AtomicBool>,
    thread: JoinHandle<Sends>,
}

/// What became of the sends.
#[derive(Debug, Default)]
struct Sends {
    succeeded: u64,
    lost: u64,
    /// Why the last lost one was.
    why: Option<String>,
    is_last_lost: bool,
}

impl Collecting {
    pub(super) fn begin(url: String) -> Result<Self, String> {
        let (queue, snapshots) = sync_channel(QUEUE_MAX);
        let is_ending = Arc::new(AtomicBool::new(false));
        let sender =
            Sender { url: url.clone(), start: Timestamp::now(), agent: http::agent(SEND_BOUND) };
        let ending = Arc::clone(&is_ending);
        let thread = thread::Builder::new()
            .name("otlp".to_owned())
            .spawn(move || sender.run(&snapshots, &ending))
            .map_err(|error| format!("--otlp: {error}"))?;
        Ok(Self { url, queue, refused: AtomicU64::new(0), is_ending, thread })
    }

    /// Has this sent when there is a place for it; never waits.
    pub(super) fn send(&self, counts: Arc<Counts>) {
        if self.queue.try_send(Snapshot { at: Timestamp::now(), counts }).is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends the last sums, within three bounds of a send, and tells what was lost.
    pub(super) fn finish(self, last: Arc<Counts>) -> Option<String> {
        self.is_ending.store(true, Ordering::Release);
        let Self { url, queue, refused, thread, .. } = self;
        // The thread makes a place within the bound of a send.
        let _ = queue.send(Snapshot { at: Timestamp::now(), counts: last });
        drop(queue);
        let sends = thread.join().ok()?;
        sends.told(refused.into_inner(), &url)
    }
}

impl Sends {
    fn told(&self, refused: u64, url: &str) -> Option<String> {
        let lost = self.lost + refused;
        let why = self.why.as_deref().unwrap_or("it is too slow");
        let all = self.succeeded + lost;
        let end = match self.is_last_lost {
            true => "the last one too, so the collector lacks the end of the run",
            false => "later ones had the same sums",
        };
        (lost > 0)
            .then(|| format!("metrics: {lost} of {all} sends to {url} were lost ({why}); {end}"))
    }
}

struct Sender {
    url: String,
    start: Timestamp,
    agent: http::Agent,
}

impl Sender {
    fn run(&self, snapshots: &Receiver<Snapshot>, is_ending: &AtomicBool) -> Sends {
        let mut sends = Sends::default();
        while let Ok(mut snapshot) = snapshots.recv() {
            if is_ending.load(Ordering::Acquire) {
                // The end of a run does not wait for a collector that is behind.
                for newer in snapshots.try_iter() {
                    sends.lost += 1;
                    snapshot = newer;
                }
            }
            let sent = self.send(&snapshot);
            sends.is_last_lost = sent.is_err();
            match sent {
                Ok(()) => sends.succeeded += 1,
                Err(why) => {
                    sends.lost += 1;
                    sends.why = Some(why);
                }
            }
        }
        sends
    }

    fn send(&self, snapshot: &Snapshot) -> Result<(), String> {
        let body = request(&snapshot.counts, self.start, snapshot.at).encode_to_vec();
        let posting = self.agent.post(&self.url).content_type("application/x-protobuf");
        let answer = posting.send(&body[..]).map_err(|error| http::explain(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(format!("it answered {}", status.as_u16()));
        }
        let body = answer.into_body().into_with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| http::explain(&error))?;
        let answer = Answer::decode(&body[..]).map_err(|_| "its answer is no OTLP".to_owned())?;
        match answer.rejected() {
            0 => Ok(()),
            rejected => Err(format!("it rejected {rejected} points")),
        }
    }
}
