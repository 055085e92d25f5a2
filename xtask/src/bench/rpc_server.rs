//! The servers that answer calls, and how many they have answered.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde_json::Value;
use system::watch::read_page;
use tempfile::TempDir;

use super::window::Client;

/// How long a page of metrics may take.
const PAGE_BOUND: Duration = Duration::from_secs(5);
/// Time between two looks whether a server has started, and how many there are.
const POLL_PERIOD: Duration = Duration::from_millis(50);
const POLLS_MAX: usize = 200;
/// A message of gRPC: no compression, 7 bytes, field 1 is "hello".
const GRPC_BODY: &[u8] = b"\0\0\0\0\x07\x0a\x05hello";

/// A server, which is stopped when it is dropped.
pub(super) struct RpcServer {
    process: Client,
    port: u16,
    counter: Counter,
    scratch: TempDir,
}

/// Where a server tells how many requests it has received.
enum Counter {
    /// The first eight bytes of a file.
    File(PathBuf),
    /// A page of metrics.
    Page(String),
}

impl RpcServer {
    /// Starts the floor, on `cpus` only when they are given.
    pub(super) fn start_floor(program: &Path, cpus: Option<&str>) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's files")?;
        let file = scratch.path().join("counter");
        let port = free_port()?;
        let mut command = Command::new(program);
        command.arg(port.to_string()).arg(&file);
        let process = Client::start(&mut command, cpus).context("cannot start the floor")?;
        let server = Self { process, port, counter: Counter::File(file), scratch };
        server.wait(|server| server.requests().ok())?;
        Ok(server)
    }

    /// Starts an echo server in Go, on `cpus` only when they are given.
    pub(super) fn start_echo(program: &Path, cpus: Option<&str>) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's files")?;
        let process = Client::start(&mut Command::new(program), cpus);
        let process = process.with_context(|| format!("cannot start {}", program.display()))?;
        let mut server = Self { process, port: 0, counter: Counter::Page(String::new()), scratch };
        let (port, page) = server.wait(|server| addresses(&server.process.said().ok()?))?;
        server.port = port;
        server.counter = Counter::Page(page);
        Ok(server)
    }

    fn wait<T>(&self, look: impl Fn(&Self) -> Option<T>) -> anyhow::Result<T> {
        for _ in 0..POLLS_MAX {
            if let Some(found) = look(self) {
                return Ok(found);
            }
            thread::sleep(POLL_PERIOD);
        }
        bail!("the server does not start: {}", self.process.said().unwrap_or_default())
    }

    /// How many requests it has received.
    pub(super) fn requests(&self) -> anyhow::Result<u64> {
        match &self.counter {
            Counter::File(file) => {
                let mut bytes = [0; 8];
                fs::File::open(file)?.read_exact(&mut bytes)?;
                Ok(u64::from_ne_bytes(bytes))
            }
            Counter::Page(url) => {
                let page = read_page(url, PAGE_BOUND).map_err(|why| anyhow!("{url}: {why}"))?;
                let line = page.lines().find_map(|line| line.strip_prefix("rpc_requests_total "));
                let count: f64 = line.context("the server does not count requests")?.parse()?;
                Ok(count as u64)
            }
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A folder for files of the contestants.
    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A file with the body of a gRPC request.
    pub(super) fn grpc_body(&self) -> PathBuf {
        let file = self.scratch().join("body");
        // A file that cannot be written is missed by the contestant, which says so.
        let _ = fs::write(&file, GRPC_BODY);
        file
    }
}

/// The port and the page of metrics from the line of JSON that a server writes.
fn addresses(said: &str) -> Option<(u16, String)> {
    let told: Value = serde_json::from_str(said.lines().next()?).ok()?;
    let (_, port) = told["address"].as_str()?.rsplit_once(':')?;
    Some((port.parse().ok()?, format!("http://{}/metrics", told["metrics"].as_str()?)))
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_the_line_of_json() {
        let line = r#"{"address":"127.0.0.1:8000","metrics":"127.0.0.1:8001","product":"trpc-go"}"#;
        let page = "http://127.0.0.1:8001/metrics".to_owned();
        assert_eq!(addresses(line), Some((8000, page)));
        assert_eq!(addresses(""), None);
        assert_eq!(addresses("{}"), None);
    }
}
