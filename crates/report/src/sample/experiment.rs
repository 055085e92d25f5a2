//! An experiment for the limit of a system, whose betas are known.

use analysis::{CYCLE, Design};
use measure::{Lever, MEMBERS_MAX, UnusedLever, UsedLever, Why, WhyMember, WhyWindow};

/// 100 us for each transaction of two clients: 20 us more with each wait of 40 us before it, so much of dyno's CPU and
/// 50 us of the server's, whose tenth more costs nothing.
pub(crate) fn experiment(client_ns: u64) -> Why {
    let levers = [Lever::Null, Lever::Before, Lever::ClientCpu, Lever::ServerCpu, Lever::Clients];
    let settings = Design::new(&levers, 1).settings(8);
    let window = |(at, setting): (usize, u32)| {
        let on = |lever: Lever| if setting & lever.bit() == 0 { 0 } else { 1 };
        // Slow-downs add up, and fewer clients multiply them.
        let us =
            (100 + 20 * on(Lever::Before) + 2 * on(Lever::ClientCpu)) * (1 + on(Lever::Clients));
        let transactions = 170_000 / us + (at % 3) as u64;
        WhyWindow {
            cycle: (at / CYCLE) as u32,
            setting,
            counted_ns: 170_000_000,
            cpu_clock_ns: 170_000_000,
            transactions,
            before_ns: 40_000 * transactions * on(Lever::Before),
            client_cpu_ns: transactions * (client_ns + 4_000 * on(Lever::ClientCpu)),
            server_cpu_ns: Some(transactions * (50_000 + 5_000 * on(Lever::ServerCpu))),
            ..WhyWindow::default()
        }
    };
    Why {
        clients: 2,
        loops: 1,
        server_cores: Some(2),
        host_cores: 4,
        window_ns: 190_000_000,
        used: levers.map(|lever| UsedLever { lever, size: 1, every: 1 }).to_vec(),
        unused: vec![UnusedLever { lever: Lever::Cores, reason: "one core only".to_owned() }],
        windows: settings.into_iter().enumerate().map(window).collect(),
        at_most_ns: 60_000_000_000,
        ..Why::default()
    }
}

/// 100 us for each transaction, of which 80 are work of a store, one transaction after another; 30 us of the first server's and
/// 5 us of a third one's go on meanwhile. A fourth one does next to nothing.
pub(crate) fn experiment_on_a_cluster() -> Why {
    let mut levers = vec![Lever::Null, Lever::Before, Lever::ClientCpu, Lever::ServerCpu];
    levers.push(Lever::Clients);
    levers.extend((0..3).map(Lever::Member));
    let work_us = [80, 30, 5];
    let settings = Design::new(&levers, 1).settings(12);
    let window = |(at, setting): (usize, u32)| {
        let on = |lever: Lever| if setting & lever.bit() == 0 { 0 } else { 1 };
        let taxes = |member: usize| on(Lever::ServerCpu) + on(Lever::Member(member as u8));
        let ns = 100_000 + 8_000 * taxes(0);
        let transactions = 1_700_000_000 / ns + (at % 3) as u64;
        let mut member_cpu_ns = [0; MEMBERS_MAX];
        for (member, (ns, us)) in member_cpu_ns.iter_mut().zip(work_us).enumerate() {
            *ns = transactions * us * (1_000 + 100 * taxes(member));
        }
        WhyWindow {
            cycle: (at / CYCLE) as u32,
            setting,
            counted_ns: 1_700_000_000,
            cpu_clock_ns: 1_700_000_000,
            transactions,
            before_ns: 40_000 * transactions * on(Lever::Before),
            client_cpu_ns: transactions * (5_000 + 500 * on(Lever::ClientCpu)),
            server_cpu_ns: Some(member_cpu_ns.iter().sum()),
            member_cpu_ns,
            ..WhyWindow::default()
        }
    };
    let member = |name: &str, busy, left_out: Option<&str>| WhyMember {
        name: name.to_owned(),
        busy: Some(busy),
        left_out: left_out.map(str::to_owned),
    };
    Why {
        clients: 4,
        loops: 1,
        server_cores: Some(4),
        host_cores: 4,
        window_ns: 1_900_000_000,
        used: levers.iter().map(|lever| UsedLever { lever: *lever, size: 1, every: 1 }).collect(),
        members: vec![
            member("store-2", 0.8, None),
            member("front", 0.3, None),
            member("store-1", 0.05, None),
            member("store-3", 0.004, Some("it keeps 0.004 of a core busy")),
        ],
        windows: settings.into_iter().enumerate().map(window).collect(),
        at_most_ns: 600_000_000_000,
        ..Why::default()
    }
}
