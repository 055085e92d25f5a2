//! One PD: how it starts, and how to query it.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sched::CpuSet;
use serde_json::Value;

use super::program::Program;
use crate::daemon::{Recipe, ServerFolder};
use crate::http;
use crate::ports::{ANSWER_BOUND, Ports, local};
use crate::process::command;
use crate::tidb::Settings;

/// How long a server may take for an answer that is asked for once.
pub(super) const PAGE_BOUND: Duration = Duration::from_secs(5);

const PAGE_BYTES_MAX: u64 = 2 << 20;
/// The most characters of a refusal that an error repeats.
const REFUSAL_CHARACTERS_MAX: usize = 300;

#[derive(Debug)]
pub(super) struct Pd {
    pub(super) program: Program,
    pub(super) settings: Settings,
    /// A name that no other PD of the cluster has.
    pub(super) name: String,
    /// A running PD whose cluster it joins; without one it creates a cluster.
    pub(super) joins: Option<SocketAddr>,
}

impl Pd {
    fn cluster(&self, ports: Ports) -> String {
        match self.joins {
            Some(other) => format!("--join=http://{other}"),
            None => format!("--initial-cluster={}=http://{}", self.name, local(ports.internal)),
        }
    }
}

impl Recipe for Pd {
    fn name(&self) -> &'static str {
        "PD"
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.program.path);
        command
            .arg(format!("--name={}", self.name))
            .arg(format!("--data-dir={}", server_folder.data().display()))
            .arg(format!("--client-urls=http://{}", local(ports.main)))
            .arg(format!("--peer-urls=http://{}", local(ports.internal)))
            .arg(self.cluster(ports));
        self.settings.say(&mut command, "--config", server_folder);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    /// A PD without a leader does not answer usefully yet.
    fn answers(&self, ports: Ports) -> bool {
        let leader = ask(local(ports.main), "leader", ANSWER_BOUND);
        leader.is_ok_and(|leader| leader["member_id"].is_number())
    }
}

/// PD's answer at a path of its interface.
///
/// # Errors
/// When PD does not answer within `bound`, or answers with an error.
pub(super) fn ask(pd: SocketAddr, place: &str, bound: Duration) -> anyhow::Result<Value> {
    let text = page(pd, &format!("/pd/api/v1/{place}"), bound)?;
    serde_json::from_str(&text).with_context(|| format!("PD's answer to {place} is no JSON"))
}

/// A page of a server of the cluster.
///
/// # Errors
/// When it does not answer within `bound`, or not with success.
pub(super) fn page(server: SocketAddr, path: &str, bound: Duration) -> anyhow::Result<String> {
    let url = format!("http://{server}{path}");
    let mut answer = http::agent(bound).get(&url).call().with_context(|| url.clone())?;
    let body = answer.body_mut().with_config().limit(PAGE_BYTES_MAX);
    let text = body.read_to_string().with_context(|| url.clone())?;
    if !answer.status().is_success() {
        let refusal: String = text.trim().chars().take(REFUSAL_CHARACTERS_MAX).collect();
        bail!("{url}: {} ({refusal})", answer.status());
    }
    Ok(text)
}
