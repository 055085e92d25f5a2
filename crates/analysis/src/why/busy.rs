//! How many cores were busy in an experiment, and for whom.

use measure::WhyWindow;

/// Cores that were busy.
pub(super) struct Busy {
    pub(super) client: f64,
    pub(super) server: Option<f64>,
    pub(super) others: Option<f64>,
}

impl Busy {
    pub(super) fn of(windows: &[&WhyWindow]) -> Self {
        let busy = |used: fn(&WhyWindow) -> Option<u64>| -> Option<f64> {
            let all: u64 = windows.iter().map(|window| used(window)).sum::<Option<u64>>()?;
            let length: u64 = windows.iter().map(|window| window.cpu_clock_ns).sum();
            Some(all as f64 / length.max(1) as f64)
        };
        let client = busy(|window| Some(window.client_cpu_ns)).unwrap_or(0.0);
        let server = busy(|window| window.server_cpu_ns);
        let others = busy(|window| window.host_cpu_ns).zip(server);
        let others = others.map(|(all, server)| (all - client - server).max(0.0));
        Self { client, server, others }
    }
}
