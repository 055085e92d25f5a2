//! The kind `echo` of a plan: the echo server in a process of its own, started and stopped by dyno.

use std::env;
use std::net::TcpStream;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use driver::rpc::{Method, Protocol, Service};
use driver::{Address, Timeouts};
use net::Endpoint;
use nix::sched::CpuSet;
use plan::declared::{Choice, Number, choice, number};
use plan::{Options, Problem};

use crate::daemon::{Recipe, ServerFolder};
use crate::options::{self, CPUS};
use crate::ports::{Ports, local};
use crate::{Daemon, Identity, Kind, Offer, ProgressListener, Running, System, command};

/// How long one check may take whether the server listens.
const CONNECT_BOUND: Duration = Duration::from_secs(1);
const PROTOCOL: Choice<Protocol> = choice(
    "protocol",
    ("trpc", Protocol::Trpc),
    // Clients tell the sizes, so that they are options of the workload alone.
    &[("trpc", Protocol::Trpc), ("tcp", Protocol::Tcp { announces: true })],
    "trpc: the body of each request comes back; tcp: requests and answers of fixed sizes, which \
     the workload sets",
);
const THREADS: Number<u64> = number("threads", 1, 1..=1_024, "number of event loops, 1 to 1024");

pub(crate) static KIND: Kind = Kind {
    name: "echo",
    summary: "dyno's own echo server, which dyno starts as a process and stops after the run",
    argument: "echo",
    options: &[&PROTOCOL, &THREADS, &CPUS],
    read,
};

#[derive(Clone, Debug)]
struct Echo {
    protocol: Protocol,
    settings: EchoProcess,
}

/// The settings of an echo server in a process of its own.
#[derive(Clone, Debug)]
pub struct EchoProcess {
    pub threads: NonZero<usize>,
    /// The CPUs that it may use; all of them when `None`.
    pub cpus: Option<CpuSet>,
}

impl Default for EchoProcess {
    fn default() -> Self {
        Self { threads: NonZero::<usize>::MIN, cpus: None }
    }
}

/// Reads the options of an echo server.
fn read(options: &Options, _folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let protocol = PROTOCOL.read(&mut reader);
    let threads = usize::try_from(THREADS.read(&mut reader)).ok().and_then(NonZero::new);
    let threads = threads.unwrap_or(NonZero::<usize>::MIN);
    let cpus = options::cpus(&mut reader);
    reader.finish()?;
    Ok(Box::new(Echo { protocol, settings: EchoProcess { threads, cpus } }))
}

impl System for Echo {
    fn offers(&self) -> Offer {
        Offer::Calls
    }

    fn service(&self) -> Option<Service> {
        Some(service(self.protocol, 0))
    }

    fn start(
        &self,
        scratch: &Path,
        _timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let daemon = self.settings.clone().start(scratch, listener)?;
        let identity = Identity {
            product: format!("dyno's echo ({})", self.protocol.title()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: vec![("threads".to_owned(), self.settings.threads.to_string())],
            ..Identity::default()
        };
        Ok(Running::service(service(self.protocol, daemon.port()), identity, daemon))
    }
}

/// The service at a port of this machine. The server answers every method; requests to this one are as long as those of
/// the published benchmarks of tRPC.
fn service(protocol: Protocol, port: u16) -> Service {
    let address = local(port);
    let method = protocol.has_methods().then(|| Method {
        service: "trpc.test.helloworld.Greeter".to_owned(),
        name: "SayHello".to_owned(),
    });
    let addresses = vec![Address { name: address.to_string(), endpoint: Endpoint::Tcp(address) }];
    Service { protocol, addresses, method, tls: None, authority: None }
}

impl EchoProcess {
    /// Starts the server with a folder below `scratch`; returns when it answers.
    ///
    /// # Errors
    /// When it does not start, with the last lines of its log, or a stop was requested.
    pub fn start(
        self,
        scratch: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Daemon> {
        let program = env::current_exe().context("cannot find dyno's own program")?;
        Daemon::start(EchoRecipe { program, settings: self }, scratch, listener)
    }
}

#[derive(Debug)]
struct EchoRecipe {
    program: PathBuf,
    settings: EchoProcess,
}

impl EchoRecipe {
    fn arguments(&self, port: u16) -> [String; 5] {
        let (address, threads) = (local(port).to_string(), self.settings.threads.to_string());
        ["echo".to_owned(), "--listen".to_owned(), address, "--threads".to_owned(), threads]
    }
}

impl Recipe for EchoRecipe {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn command(&self, _server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.program);
        command.args(self.arguments(ports.main));
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn answers(&self, ports: Ports) -> bool {
        TcpStream::connect_timeout(&local(ports.main), CONNECT_BOUND).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_listens_on_its_port_with_its_threads() {
        let settings = EchoProcess { threads: NonZero::new(3).unwrap(), cpus: None };
        let recipe = EchoRecipe { program: PathBuf::from("/bin/dyno"), settings };
        let arguments = recipe.arguments(7);
        assert_eq!(arguments, ["echo", "--listen", "127.0.0.1:7", "--threads", "3"]);
    }

    #[test]
    fn the_service_speaks_the_protocol_that_the_plan_names() {
        let read = |options: &str| read(&Options::parse(options).unwrap(), Path::new(""));
        assert!(read("protocol = \"tcp\"\nthreads = 2\ncpus = \"0\"").is_ok());
        for wrong in ["protocol = \"http\"", "threads = 0", "cpus = \"x\"", "size = 1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let tcp = service(Protocol::Tcp { announces: true }, 7);
        assert_eq!(tcp.to_string(), "tcp://127.0.0.1:7");
        let trpc = service(Protocol::Trpc, 7).to_string();
        assert_eq!(trpc, "trpc://127.0.0.1:7/trpc.test.helloworld.Greeter/SayHello");
    }
}
