//! Plans are read into systems; errors in plans come with a correction.

use plan::declared::infos;
use plan::{Noise, Options, PhaseSql, ServiceDistribution, SimulatedSystem, Stall};

use super::*;
use crate::daemon::ignore_progress;
use crate::{Access, Running, testing};

fn plan(kind: &str, options: &str) -> SystemPlan {
    SystemPlan {
        variant: None,
        build: None,
        endpoints: Vec::new(),
        name: "s".to_owned(),
        kind: kind.to_owned(),
        options: Options::parse(options).unwrap(),
        sql: PhaseSql::default(),
    }
}

fn problems(kind: &str, options: &str) -> String {
    testing::problems(|| read(&plan(kind, options), Path::new("/")))
}

fn started(kind: &str, options: &str) -> Running {
    let scratch = tempfile::tempdir().unwrap();
    let system = read(&plan(kind, options), Path::new("/")).unwrap();
    system.start(scratch.path(), driver::Timeouts::default(), &mut ignore_progress).unwrap()
}

#[test]
fn an_unknown_kind_gets_the_nearest_name() {
    insta::assert_snapshot!(problems("marriadb", "cpus = \"0\""), @"`marriadb` is not a known system | did you mean `mariadb`? there are sqlite, mariadb, tidb, tidb-cluster, postgres, mysql, postgresql, trpc-echo, grpc-echo, grpc, trpc, tcp, echo, simulated; `dyno systems` explains them");
    insta::assert_snapshot!(problems("127.0.0.1:3306", ""), @"`127.0.0.1:3306` is not a known system | say what speaks there: mysql://USER@127.0.0.1:3306/DATABASE for a database, grpc://127.0.0.1:3306/SERVICE/METHOD, trpc://127.0.0.1:3306/SERVICE/METHOD or tcp://127.0.0.1:3306 for a service");
    insta::assert_snapshot!(problems("oracle", ""), @"`oracle` is not a known system | there are sqlite, mariadb, tidb, tidb-cluster, postgres, mysql, postgresql, trpc-echo, grpc-echo, grpc, trpc, tcp, echo, simulated; `dyno systems` explains them");
    let not_supported = ["https://h/x", "root:pw@h/test"];
    let told = not_supported.map(|kind| problems(kind, ""));
    insta::assert_snapshot!(told.join("\n"), @r"
    `https://h/x` is not a known system | HTTP is not supported; dyno measures databases with the MySQL and the PostgreSQL protocol and SQLite, and services with gRPC, tRPC and TCP: see `dyno systems`
    `root:pw@h/test` is not a known system | write the scheme before it, such as mysql://root:pw@h/test
    ");
}

#[test]
fn every_kind_of_the_catalogue_is_read_and_knows_its_options() {
    for kind in catalogue() {
        let wrong = problems(kind.name, "no_such_option = 1");
        assert!(wrong.contains("unknown key `no_such_option`"), "{}: {wrong}", kind.name);
        for option in infos(kind.options) {
            assert!(wrong.contains(option.name), "{} does not know {}", kind.name, option.name);
        }
    }
}

#[test]
fn a_simulated_system_has_the_configured_servers_and_times() {
    let options = "servers = 2\noperations = 12\nservice_times = [\"500us\", \"2ms\"]\n\
                   stalls = [{ at = \"5s\", for = \"1s\" }, { at = \"1s\", for = \"200ms\" }]";
    let mut running = started("simulated", options);
    let Access::Simulated(SimulatedSystem {
        servers, operations, service_times_ns, stalls, ..
    }) = running.access()
    else {
        panic!()
    };
    let in_order = [(1_000_000_000, 200_000_000), (5_000_000_000, 1_000_000_000)];
    assert_eq!(*stalls, in_order.map(|(at_ns, length_ns)| Stall { at_ns, length_ns }));
    assert_eq!((*servers, *operations, &service_times_ns[..]), (2, 12, &[500_000, 2_000_000][..]));
    assert_eq!(running.identity().settings[1].1, "500us, 2ms");
    assert_eq!(running.exited(), None);
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn a_simulated_system_refuses_invalid_stalls() {
    let wrong = [
        "stalls = 5",
        "stalls = [{ at = \"5s\" }]",
        "stalls = [{ at = \"5s\", for = \"1s\", to = 3 }]",
        "stalls = [{ at = \"5s\", for = \"2s\" }, { at = \"4s\", for = \"2s\" }]",
    ];
    let said: Vec<String> = wrong.iter().map(|options| problems("simulated", options)).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    `stalls` is 5, not a list of tables | write stalls = [{ key = "value" }]
    a stall has no `for` | write { at = "5s", for = "1s" }
    unknown key `to` | allowed: at, for
    two of the `stalls` are at the same time | make one of them, or set them apart
    "#);
}

#[test]
fn a_simulated_system_has_the_configured_noise() {
    let options = "distribution = \"lognormal\"\nvariation = 1.5\nnoise = [\n\
                   { kind = \"autocorrelated\", deviation = 0.2, time = \"10s\" },\n\
                   { kind = \"two-state\", slow = 3, fast_for = \"20s\", slow_for = \"5s\" },\n\
                   { kind = \"pauses\", every = \"10s\", for = \"50ms\" },\n\
                   { kind = \"drift\", change = -0.1, over = \"1h\" }]";
    let running = started("simulated", options);
    let Access::Simulated(SimulatedSystem { distribution, noise, .. }) = running.access() else {
        panic!()
    };
    const S: u64 = 1_000_000_000;
    assert_eq!(*distribution, ServiceDistribution::Lognormal { variation: 1.5 });
    let expected = [
        Noise::Autocorrelated { deviation: 0.2, time_ns: 10 * S },
        Noise::TwoStates { slow: 3.0, fast_ns: 20 * S, slow_ns: 5 * S },
        Noise::Pauses { every_ns: 10 * S, length_ns: S / 20, shape: 1.5 },
        Noise::Drift { change: -0.1, over_ns: 3_600 * S },
    ];
    assert_eq!(*noise, expected);
    let settings = running.identity().settings.iter().map(|(_, value)| value.as_str());
    insta::assert_snapshot!(settings.collect::<Vec<_>>().join("\n"), @r"
    1
    1ms
    lognormal, variation 1.5
    autocorrelated 0.2 over 10s, two-state 3 for 5s after 20s, pauses of 50ms every 10s, shape 1.5, drift of -0.1 over 1h
    ");
}

#[test]
fn a_simulated_system_refuses_invalid_noise() {
    let wrong = [
        "variation = 2",
        "noise = [{ deviation = 0.1 }]",
        "noise = [{ kind = \"pink\" }]",
        "noise = [{ kind = \"two-state\", fast_for = \"1s\" }]",
        "noise = [{ kind = \"pauses\", every = \"1s\", for = \"2s\", time = \"1s\" }]",
    ];
    let said: Vec<String> = wrong.iter().map(|options| problems("simulated", options)).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    this `distribution` has no `variation` of its own | leave it out, or choose lognormal, pareto or bimodal
    this noise has no `kind` | write autocorrelated, two-state, pauses, drift, warm or wave
    `kind` is "pink", not one of the choices | allowed: autocorrelated, two-state, pauses, drift, warm, wave
    this noise has no `slow_for` | write a time such as "10s"
    the pauses are as long as the time from one to the next | make them shorter, or rarer
    unknown key `time` | allowed: every, for, kind, shape
    "#);
}

#[test]
fn a_simulated_system_refuses_invalid_times() {
    insta::assert_snapshot!(problems("simulated", "service_times = [\"fast\"]\nservers = 0"), @r#"
    `fast` is not a length of time | write a list such as ["500us", "1ms"]
    `servers` is 0, out of range | allowed: 1 to 1000000
    "#);
}
