//! A load through PgBouncer, which gives each transaction another session.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use nix::unistd::geteuid;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::own_server::wait_until;
use crate::sandbox::{Sandbox, report};

struct Pooler {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A pooler with two sessions at the server of this URL.
fn pooler(url: &str) -> Pooler {
    let (login, place) = url.strip_prefix("postgresql://").unwrap().rsplit_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    let (address, database) = place.split_once('/').unwrap();
    let (host, port) = address.split_once(':').unwrap();
    let own = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pgbouncer.ini");
    let settings = format!(
        "[databases]\n{database} = host={host} port={port} user={user} password={password}\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
         default_pool_size = 2\n",
        own.port()
    );
    std::fs::write(&file, settings).unwrap();
    let mut command = Command::new("/usr/sbin/pgbouncer");
    if geteuid().is_root() {
        // It refuses to run as root.
        command.args(["-u", "nobody"]);
    }
    let process = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the pooler answers", || TcpStream::connect(own).is_ok());
    Pooler { process, url: format!("postgresql://{user}@{own}/{database}"), _folder: folder }
}

#[test]
fn through_a_pooler_named_statements_fail_before_the_load_with_what_to_do_and_others_run() {
    let scratch = TempDir::new().unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    let pooler = pooler(&server.url());
    let sandbox = Sandbox::new();
    for ps in ["named", "unnamed", "text"] {
        let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--tables=1"]);
        command.args(["--table-size=1000", "--clients=4", "--time=1s", "--warm-up=0s"]);
        command.args(["--repetitions=1", "--existing=replace", "--ps", ps, "--format=json"]);
        command.args(["-o", "rand_type=uniform", "--system", &pooler.url]);
        if ps == "named" {
            let output = command.output().unwrap();
            let said = crate::sandbox::both(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("--ps unnamed") && said.contains("could not start"), "{said}");
            continue;
        }
        let trial = report(&mut command)["trials"][0].clone();
        assert_eq!(trial["status"], "complete", "{ps}: {trial:#}");
        assert!(trial["transactions"].as_u64().unwrap() > 0, "{ps}: {trial:#}");
        assert!(trial.to_string().contains("a pooler stands between"), "{ps}: {trial:#}");
    }
}
