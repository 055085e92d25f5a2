//! Ctrl-C while dyno waits for something that never comes, before a load or between two: the first signal ends the
//! wait, and nothing that dyno has started stays behind. The bounds of the waits are longer than a test may take.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::faults_interrupt::{
    assert_interrupted, interrupt_the_shutdown_of_a_server, is_running, report,
};
use crate::faults_server::managed_mariadb;
use crate::own_server::{Background, OwnServer, wait_until};
use crate::sandbox::Sandbox;

/// A server that accepts connections and never sends a byte: its port, and a message for each connection.
fn silent() -> (u16, Receiver<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, connected) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // The test may be over.
            let (mut stream, _) = (stream.unwrap(), told.send(()));
            thread::spawn(move || io::copy(&mut stream, &mut io::sink()));
        }
    });
    (port, connected)
}

/// A program that writes its process id to a file and then waits.
fn waits(sandbox: &Sandbox) -> String {
    let file = sandbox.path().join("pid");
    format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600\n", file.display())
}

/// Interrupts a run once the program of [`waits`] runs, which then is gone.
fn interrupt_while_it_waits(sandbox: &Sandbox, command: &mut Command) {
    let run = Background::start(sandbox, command);
    let file = sandbox.path().join("pid");
    wait_until("the program waits", || file.exists());
    let pid = fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(is_running(&pid));
    run.interrupt();
    assert_interrupted(&run.finish());
    assert!(!is_running(&pid), "process {pid} is still there");
    assert_eq!(report(sandbox)["status"], "interrupted");
    fs::remove_file(&file).unwrap();
}

#[test]
fn interrupt_ends_a_build_by_a_command() {
    let sandbox = Sandbox::new();
    let text = format!(
        "[systems.lite]\nkind = \"sqlite\"\nbuild = \"{}\"\n\
         [workloads.reads]\nkind = \"sysbench/oltp_point_select\"\n",
        waits(&sandbox).trim()
    );
    sandbox.file("plan.toml", &text);
    interrupt_while_it_waits(&sandbox, &mut sandbox.dyno(["run", "plan.toml"]));
}

/// A Go that fetches other versions by itself fetches the modules of the build; an older one fetches Go first.
#[test]
fn interrupt_ends_the_download_of_modules() {
    for (version, verb) in [("go1.25.12", "list"), ("go1.20.1", "mod")] {
        let sandbox = Sandbox::new();
        let script = format!(
            "#!/bin/sh\ncase $1 in\n\
             env) case $2 in GOVERSION) echo {version};; *) echo any;; esac;;\n\
             {verb}) {};;\nesac\n",
            waits(&sandbox).trim()
        );
        let go = sandbox.program("go", &script);
        let mut command = sandbox.dyno(["bench", "rpc", "--system=trpc-echo", "--clients=1"]);
        let path = format!("{}:{}", go.parent().unwrap().display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("DYNO_CACHE", sandbox.path().join("cache"));
        interrupt_while_it_waits(&sandbox, &mut command);
    }
}

#[test]
fn interrupt_ends_the_start_of_a_server_that_never_answers() {
    let sandbox = Sandbox::new();
    let server = sandbox.program("tidb-server", &format!("#!/bin/sh\n{}", waits(&sandbox)));
    let system = format!("--system=tidb:{}", server.display());
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", &system]);
    interrupt_while_it_waits(&sandbox, command.arg("--table-size=10"));
}

#[test]
fn interrupt_ends_the_question_to_a_database_that_is_silent() {
    let (sandbox, (port, connected)) = (Sandbox::new(), silent());
    let url = format!("mysql://root@127.0.0.1:{port}/test");
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--system", &url]);
    let run = Background::start(&sandbox, command.args(["--connect-timeout=1h"]));
    connected.recv().unwrap();
    run.interrupt();
    assert_interrupted(&run.finish());
    assert_eq!(report(&sandbox)["status"], "interrupted");
}

#[test]
fn interrupt_ends_the_lookup_of_a_name_that_is_never_answered() {
    let sandbox = Sandbox::new();
    let resolver = Ipv4Addr::new(127, 83, 0, 1);
    let names = UdpSocket::bind((resolver, 53)).unwrap();
    let settings = format!("nameserver {resolver}\noptions timeout:30 attempts:5\n");
    let settings = sandbox.file("resolv.conf", &settings);
    let dyno = sandbox.dyno([
        "bench",
        "sysbench/oltp_point_select",
        "--system=mysql://root@db.example/test",
    ]);
    let mut apart = Command::new("unshare");
    apart.args(["--mount", "sh", "-c", "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""]);
    apart.arg(settings).arg(dyno.get_program()).args(dyno.get_args());
    apart.current_dir(sandbox.path()).env("HOME", sandbox.path());
    let run = Background::start(&sandbox, &mut apart);
    names.recv(&mut [0; 512]).unwrap();
    run.interrupt();
    assert_interrupted(&run.finish());
    assert_eq!(report(&sandbox)["status"], "interrupted");
    // The other question is that for an address of IPv6; both would be asked again after 30 s.
    names.set_nonblocking(true).unwrap();
    let more = std::iter::from_fn(|| names.recv(&mut [0; 512]).ok()).count();
    assert!(more <= 1, "it waited for the answer");
}

#[test]
fn interrupt_ends_the_question_for_the_types_of_a_service_that_is_silent() {
    let (sandbox, (port, connected)) = (Sandbox::new(), silent());
    let url = format!("grpc://127.0.0.1:{port}/test.Greeter/SayHello");
    let mut command = sandbox.dyno(["bench", "rpc", "--clients=1", "--system", &url]);
    command.args(["--option=message={\"name\": \"any\"}", "--connect-timeout=1h"]);
    let run = Background::start(&sandbox, &mut command);
    // The first connection shows that the service can be reached, the second asks for the types.
    (0..2).for_each(|_| connected.recv().unwrap());
    run.interrupt();
    assert_interrupted(&run.finish());
    assert_eq!(report(&sandbox)["status"], "interrupted");
}

#[test]
fn interrupt_ends_the_wait_for_a_server_that_is_away_between_trials() {
    let (own, sandbox) = (OwnServer::start(&[]), Sandbox::new());
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_only", "--clients=2,3"]);
    command.args(["--table-size=100", "--warm-up=0s", "--time=3s", "--interval=200ms"]);
    command.args(["--reconnect-limit=1h", "--system", &own.url()]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    own.kill();
    wait_until("it is waited for", || run.stderr_text().contains("waiting for the server"));
    run.interrupt();
    assert_interrupted(&run.finish());
    let report = report(&sandbox);
    assert_eq!(report["status"], "interrupted");
    let trials = report["trials"].as_array().unwrap();
    let transactions: Vec<u64> =
        trials.iter().map(|trial| trial["transactions"].as_u64().unwrap()).collect();
    assert!(transactions[0] > 0 && transactions[1..] == [0], "what was measured is kept: {report}");
    assert_eq!(trials[1]["status"], "interrupted");
}

#[test]
fn interrupt_ends_a_restore_that_waits_for_the_clean_shutdown_of_a_server() {
    let sandbox = Sandbox::new();
    let plan = "system = { kind = \"mariadb\" }\nbetween = \"restore\"\n\
                workload = { kind = \"sysbench/oltp_point_select\", table_size = 100 }\n\
                [load]\nclients = [1, 2]\ntime = \"2s\"\nwarm_up = \"0s\"\ninterval = \"200ms\"\n\
                query_timeout = \"200ms\"\nconnect_timeout = \"2s\"\nreconnect_limit = \"off\"\n";
    sandbox.file("plan.toml", plan);
    let mut run = Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml"]));
    run.wait_for("0000", "measure", 1);
    let server = managed_mariadb(&run);
    interrupt_the_shutdown_of_a_server(run, server);
    let report = report(&sandbox);
    assert_eq!(report["trials"].as_array().unwrap().len(), 1, "{report}");
    assert!(report["trials"][0]["transactions"].as_u64().unwrap() > 0, "{report}");
}
