//! Calls of RPC services: dyno against a bare loop in C, trpc-go's own client, ghz and h2load.

use std::path::PathBuf;
use std::process::Command;

use system::go_echo::EchoServer;

use super::cases::{CLIENT_CORE, Comparison, SERVER_CORE};
use super::contestant::Contestant::{self, Dyno, DynoTrpc, Floor, Ghz, H2load, TrpcClient};
use super::rpc_server::RpcServer;
use super::window::Window;
use super::{Bench, Part};
use crate::go::{GHZ, TRPC_CLIENT};
use crate::shell::with;

/// Connections of every load but the largest.
const CONNECTIONS: usize = 100;
/// Clients on these connections: 1 and 8 requests in flight on each. The last have a connection each.
pub(super) const FLOOR_CLIENTS: [usize; 3] = [CONNECTIONS, 8 * CONNECTIONS, MANY];
/// Clients that have a connection each.
pub(super) const MANY: usize = 10_000;
/// 13 requests in flight on each connection.
pub(super) const PIPELINED: usize = 13 * CONNECTIONS;
/// What requests of tRPC call.
const TRPC_METHOD: &str = "trpc.test.helloworld.Greeter/SayHello";
/// What those of gRPC call.
const GRPC_METHOD: &str = "helloworld.Greeter/SayHello";
/// A request of tRPC with the lengths of the others, sent as bytes without a meaning.
pub(super) const FRAME: &str = "093000000000007a0063000040000100188080012a17747270632e636c69656e742e64796e6f2e63616c6c6572\
    321c747270632e746573742e68656c6c6f776f726c642e477265657465723a262f747270632e746573742e6865\
    6c6c6f776f726c642e477265657465722f53617948656c6c6f0a0568656c6c6f";

/// The programs that only this part needs.
struct Peers {
    trpc_client: PathBuf,
    ghz: PathBuf,
}

/// Measures one part; those of the same name with `Pinned` have the server on one core and the client on another.
pub(super) fn measure(bench: &mut Bench, part: Part) -> anyhow::Result<()> {
    let is_pinned = matches!(part, Part::TcpPinned | Part::TrpcPinned | Part::GrpcPinned);
    let cores = is_pinned.then_some([SERVER_CORE, CLIENT_CORE]);
    let server_core = cores.map(|[server, _]| server);
    let (server, clients, contestants): (_, &[usize], &[Contestant]) = match part {
        Part::Tcp | Part::TcpPinned => {
            let server = RpcServer::start_floor(&bench.programs.rpc_server, server_core)?;
            (server, &FLOOR_CLIENTS, &[Dyno, DynoTrpc, Floor])
        }
        Part::Trpc | Part::TrpcPinned => {
            let program = crate::servers::echo(EchoServer::Trpc, &bench.interrupt)?;
            (RpcServer::start_echo(&program, server_core)?, &[PIPELINED], &[Dyno, TrpcClient])
        }
        _ => {
            let program = crate::servers::echo(EchoServer::Grpc, &bench.interrupt)?;
            (RpcServer::start_echo(&program, server_core)?, &[PIPELINED], &[Dyno, Ghz, H2load])
        }
    };
    let peers = Peers {
        trpc_client: TRPC_CLIENT.build(&bench.interrupt)?,
        ghz: GHZ.build(&bench.interrupt)?,
    };
    let comparison = Comparison {
        part,
        server: &server,
        connections: clients,
        contestants,
        cpus: cores.map(|[_, client]| client),
        window: Window::of_calls(bench.window),
    };
    let seconds = comparison.window.load_time().as_secs_f64().ceil();
    comparison.measure(bench, |bench, contestant, clients| {
        Ok(command(bench, &peers, &server, (part, contestant), (clients, seconds)))
    })
}

/// The command of a contestant for so many clients and seconds.
fn command(
    bench: &Bench,
    peers: &Peers,
    server: &RpcServer,
    (part, contestant): (Part, Contestant),
    (clients, seconds): (usize, f64),
) -> Command {
    let address = server.address();
    let connections = if clients == MANY { MANY } else { CONNECTIONS };
    let in_flight = clients / connections;
    let whole = |scheme: &str, options: &str| {
        let load = format!("--clients {clients} -o connections={connections} --time {seconds}s");
        let quiet = "--warm-up 0s --workers 1 --set watch=\"off\" --quiet --format json";
        let method = match scheme {
            "tcp" => String::new(),
            "grpc" => format!("/{GRPC_METHOD}"),
            _ => format!("/{TRPC_METHOD}"),
        };
        let system = format!("bench rpc --system {scheme}://{address}{method}");
        let command =
            with(Command::new(&bench.programs.dyno), &format!("{system} {load} {quiet} {options}"));
        with(command, &format!("--out {}", server.scratch().display()))
    };
    match (contestant, part) {
        (Dyno, Part::Tcp | Part::TcpPinned) => {
            whole("tcp", &format!("-o hex={FRAME} -o answer_size=27"))
        }
        (Dyno, Part::Grpc | Part::GrpcPinned) => whole("grpc", ""),
        (TrpcClient, _) => with(
            Command::new(&peers.trpc_client),
            &format!(
                "-target {address} -connections {connections} -calls {clients} -time {seconds}s"
            ),
        ),
        (Ghz, _) => {
            let mut command = with(
                Command::new(&peers.ghz),
                &format!(
                    "--insecure --call {} -c {clients} --connections {connections}",
                    GRPC_METHOD.replace('/', ".")
                ),
            );
            command.args(["-d", "{\"msg\":\"hello\"}", "-z", &format!("{seconds}s"), &address]);
            command
        }
        (H2load, _) => {
            let body = server.grpc_body();
            let mut command = with(
                Command::new("h2load"),
                &format!("-c {connections} -m {in_flight} -D {seconds} -d {}", body.display()),
            );
            command.args(["-H", "content-type: application/grpc", "-H", "te: trailers"]);
            command.arg(format!("http://{address}/{GRPC_METHOD}"));
            command
        }
        (Floor, _) => with(
            Command::new(&bench.programs.rpc_client),
            &format!("{} {connections} {in_flight} {seconds}", server.port()),
        ),
        _ => whole("trpc", ""),
    }
}
