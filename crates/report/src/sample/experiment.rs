//! An experiment for the limit of a system, whose betas are known.

use analysis::{CYCLE, Design};
use measure::{Lever, UnusedLever, UsedLever, Why, WhyWindow};

/// 100 us for each transaction of two clients: 20 us more with each wait of 40 us before it, so much of dyno's CPU and
/// 50 us of the server's, whose tenth more costs nothing.
pub(crate) fn experiment(client_ns: u64) -> Why {
    let levers = [Lever::Null, Lever::Before, Lever::ClientCpu, Lever::ServerCpu, Lever::Clients];
    let settings = Design::new(&levers, 1).settings(8);
    let window = |(at, setting): (usize, u16)| {
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
