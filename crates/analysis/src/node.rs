//! The figures of a host from the metrics of its node_exporter.

use std::collections::{BTreeMap, BTreeSet};

use measure::{
    CpuTimes, DiskCounters, Host, HostReading, Nanos, NetworkCounters, SegmentCounters, Series,
    Server,
};

/// The metric family that identifies a node_exporter.
const CPU: &str = "node_cpu_seconds_total";
const DISK_BUSY: &str = "node_disk_io_time_seconds_total";
const LOOPBACK: &str = "lo";
/// Name prefixes of devices that are built on other devices and count the same bytes again.
const DISKS_ON_DISKS: [&str; 5] = ["dm-", "md", "loop", "ram", "zram"];
/// As with disks: bridges, bonds, VLANs, tunnels, and the devices of containers and virtual machines.
const CARDS_ON_CARDS: [&str; 29] = [
    "bond",
    "br",
    "cali",
    "cbr",
    "cilium",
    "cni",
    "docker",
    "dummy",
    "flannel",
    "gre",
    "ifb",
    "ip6tnl",
    "ipvlan",
    "kube",
    "lxc",
    "lxdbr",
    "macvlan",
    "macvtap",
    "ovs",
    "sit",
    "tailscale",
    "tap",
    "team",
    "tun",
    "veth",
    "vir",
    "vlan",
    "vxlan",
    "wg",
];

/// Whether a server reports its host's CPU, as node_exporters do.
pub(crate) fn is_node(server: &Server) -> bool {
    server.families.iter().any(|family| family.starts_with("node_cpu_"))
}

/// The host of a node_exporter; `None` for any other server. It has no processes.
pub fn host_of_node(server: &Server) -> Option<Host> {
    let has_cpu = server.families.iter().any(|family| family == CPU);
    if !has_cpu {
        return None;
    }
    let of = Node { server };
    let cpus = of.series(CPU).filter_map(|series| series.label("cpu")).collect::<BTreeSet<_>>();
    let end_ns = server.answers_ns.last().copied()?;
    Some(Host {
        name: server.name.clone(),
        place: None,
        cpu_threads: cpus.len() as u64,
        memory_bytes: of.level("node_memory_MemTotal_bytes", end_ns),
        processes: Vec::new(),
        readings: server.answers_ns.iter().map(|at_ns| of.reading(*at_ns)).collect(),
        joints_ns: server.joints_ns.clone(),
    })
}

struct Node<'a> {
    server: &'a Server,
}

impl<'a> Node<'a> {
    fn series(&self, name: &str) -> impl Iterator<Item = &'a Series> {
        self.server.series.iter().filter(move |series| series.name == name)
    }

    /// The sum of a family's figures for which a condition holds; `None` when the server does not report the
    /// family. Series that never changed are not kept, so a counter without a series has not grown.
    fn sum(&self, name: &str, at_ns: Nanos, is_in: impl Fn(&Series) -> bool) -> Option<f64> {
        let is_reported = self.server.families.iter().any(|family| family == name);
        let figures = self.series(name).filter(|series| is_in(series));
        let sum = figures.filter_map(|series| series.at(at_ns)).sum();
        is_reported.then_some(sum)
    }

    fn level(&self, name: &str, at_ns: Nanos) -> Option<u64> {
        self.sum(name, at_ns, |_| true).filter(|sum| *sum > 0.0).map(|sum| sum as u64)
    }

    fn count(&self, name: &str, at_ns: Nanos) -> Option<u64> {
        self.sum(name, at_ns, |_| true).map(|sum| sum as u64)
    }

    fn cpu_ns(&self, mode: &str, at_ns: Nanos) -> Nanos {
        let seconds = self.sum(CPU, at_ns, |series| series.label("mode") == Some(mode));
        (seconds.unwrap_or_default() * 1e9) as Nanos
    }

    fn reading(&self, at_ns: Nanos) -> HostReading {
        HostReading {
            at_ns,
            cpu: CpuTimes {
                user_ns: self.cpu_ns("user", at_ns) + self.cpu_ns("nice", at_ns),
                system_ns: self.cpu_ns("system", at_ns),
                idle_ns: self.cpu_ns("idle", at_ns),
                iowait_ns: self.cpu_ns("iowait", at_ns),
                irq_ns: self.cpu_ns("irq", at_ns),
                softirq_ns: self.cpu_ns("softirq", at_ns),
                steal_ns: self.cpu_ns("steal", at_ns),
            },
            runnable: self.count("node_procs_running", at_ns),
            blocked: self.count("node_procs_blocked", at_ns),
            context_switches: self.count("node_context_switches_total", at_ns),
            memory_available_bytes: self.level("node_memory_MemAvailable_bytes", at_ns),
            disk: self.disk(at_ns),
            disk_busy_ns: self.disk_busy_ns(at_ns),
            network: self.network(at_ns, is_card),
            loopback: self.network(at_ns, |name| name == LOOPBACK),
            segments: self.segments(at_ns),
            processes: Vec::new(),
            kinds: Vec::new(),
        }
    }

    fn disk(&self, at_ns: Nanos) -> Option<DiskCounters> {
        let of = |name: &str| {
            let sum = self.sum(name, at_ns, |series| is_disk(series.label("device")))?;
            Some(sum as u64)
        };
        Some(DiskCounters {
            read_bytes: of("node_disk_read_bytes_total")?,
            written_bytes: of("node_disk_written_bytes_total")?,
            requests: of("node_disk_reads_completed_total")?
                + of("node_disk_writes_completed_total")?,
        })
    }

    /// For how long each disk was busy. Disks that did nothing are not kept among the series.
    fn disk_busy_ns(&self, at_ns: Nanos) -> Option<BTreeMap<String, Nanos>> {
        let is_reported = self.server.families.iter().any(|family| family == DISK_BUSY);
        let busy = |series: &Series| {
            let disk = series.label("device").filter(|name| is_disk(Some(name)))?;
            Some((disk.to_owned(), (series.at(at_ns)? * 1e9) as Nanos))
        };
        is_reported.then(|| self.series(DISK_BUSY).filter_map(busy).collect())
    }

    fn network(&self, at_ns: Nanos, is_in: impl Fn(&str) -> bool) -> Option<NetworkCounters> {
        let of = |name: &str| {
            let sum = self.sum(name, at_ns, |series| series.label("device").is_some_and(&is_in))?;
            Some(sum as u64)
        };
        Some(NetworkCounters {
            received_bytes: of("node_network_receive_bytes_total")?,
            sent_bytes: of("node_network_transmit_bytes_total")?,
            received_packets: of("node_network_receive_packets_total")?,
            sent_packets: of("node_network_transmit_packets_total")?,
        })
    }

    /// node_exporter exposes the counters of /proc/net/snmp as untyped.
    fn segments(&self, at_ns: Nanos) -> Option<SegmentCounters> {
        Some(SegmentCounters {
            received: self.count("node_netstat_Tcp_InSegs", at_ns)?,
            sent: self.count("node_netstat_Tcp_OutSegs", at_ns)?,
            retransmitted: self.count("node_netstat_Tcp_RetransSegs", at_ns)?,
        })
    }
}

fn is_disk(device: Option<&str>) -> bool {
    device.is_some_and(|name| !DISKS_ON_DISKS.iter().any(|other| name.starts_with(other)))
}

/// A VLAN is named after its card and its number, such as `eth0.100`.
fn is_card(name: &str) -> bool {
    name != LOOPBACK
        && !name.contains('.')
        && !CARDS_ON_CARDS.iter().any(|other| name.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostFigure;

    const SECOND: Nanos = 1_000_000_000;

    fn server(figures: &[(&str, f64, f64)]) -> Server {
        let series = |(key, before, after): &(&str, f64, f64)| {
            let mut series = Series::parse(key);
            series.points = vec![(0, *before), (2 * SECOND, *after)];
            series
        };
        let series: Vec<Series> = figures.iter().map(series).collect();
        let families = series.iter().map(|series| series.name.clone()).collect();
        let name = "node 7".to_owned();
        Server { name, families, answers_ns: vec![0, 2 * SECOND], series, ..Server::default() }
    }

    fn mean(host: &Host, figure: HostFigure) -> Option<f64> {
        figure.of(host).first().map(|sample_window| sample_window.mean)
    }

    #[test]
    fn node_exporter_metrics_become_host_readings() {
        let server = server(&[
            ("node_cpu_seconds_total{cpu=\"0\",mode=\"user\"}", 10.0, 11.0),
            ("node_cpu_seconds_total{cpu=\"1\",mode=\"user\"}", 10.0, 11.5),
            ("node_cpu_seconds_total{cpu=\"1\",mode=\"softirq\"}", 1.0, 1.5),
            ("node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"}", 1.0, 2.0),
            ("node_procs_running", 3.0, 5.0),
            ("node_memory_MemTotal_bytes", 1_000.0, 1_000.0),
            ("node_memory_MemAvailable_bytes", 900.0, 400.0),
            ("node_network_receive_bytes_total{device=\"eth0\"}", 0.0, 500.0),
            ("node_network_receive_bytes_total{device=\"veth3\"}", 0.0, 9_000.0),
            ("node_network_transmit_bytes_total{device=\"lo\"}", 0.0, 70.0),
            ("node_network_receive_packets_total{device=\"eth0\"}", 0.0, 5.0),
            ("node_network_transmit_packets_total{device=\"eth0\"}", 0.0, 1.0),
        ]);
        let host = host_of_node(&server).unwrap();
        assert_eq!((host.name.as_str(), host.cpu_threads), ("node 7", 2));
        let expected = [
            (HostFigure::CpuUser, 1.25),
            (HostFigure::CpuSoftirq, 0.25),
            (HostFigure::Runnable, 5.0),
            (HostFigure::MemoryUsed, 600.0),
            (HostFigure::NetworkReceived, 250.0),
            (HostFigure::LoopbackBytes, 35.0),
        ];
        for (figure, value) in expected {
            assert_eq!(mean(&host, figure), Some(value), "{figure:?}");
        }
        for untold in [HostFigure::DiskRead, HostFigure::ContextSwitches, HostFigure::SegmentsSent]
        {
            assert_eq!(mean(&host, untold), None, "{untold:?}");
        }
    }

    #[test]
    fn bytes_of_virtual_network_devices_count_once() {
        for name in ["bond0", "br0", "br-6f", "cali12", "eth0.100", "vlan7", "wg0", "vxlan.calico"]
        {
            assert!(!is_card(name), "{name}");
        }
        for name in ["eth0", "ens5", "enp3s0f1", "wlan0", "ib0", "eno1np0"] {
            assert!(is_card(name), "{name}");
        }
    }

    #[test]
    fn disk_busy_is_that_of_the_disk_that_was_busiest_in_the_window() {
        let server = server(&[
            ("node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"}", 1.0, 2.0),
            ("node_disk_read_bytes_total{device=\"sda\"}", 0.0, 1.0),
            ("node_disk_written_bytes_total{device=\"sda\"}", 0.0, 1.0),
            ("node_disk_reads_completed_total{device=\"sda\"}", 0.0, 1.0),
            ("node_disk_writes_completed_total{device=\"sda\"}", 0.0, 1.0),
            // The disk of the system has been busy for longer since the start, and rests.
            ("node_disk_io_time_seconds_total{device=\"sda\"}", 1_000.0, 1_000.5),
            ("node_disk_io_time_seconds_total{device=\"sdb\"}", 10.0, 12.0),
        ]);
        assert_eq!(mean(&host_of_node(&server).unwrap(), HostFigure::DiskBusy), Some(1.0));
    }

    #[test]
    fn metrics_of_other_servers_are_not_host_readings() {
        assert_eq!(host_of_node(&server(&[("go_goroutines", 1.0, 2.0)])), None);
        let silent = Server { families: vec![CPU.to_owned()], ..Server::default() };
        assert_eq!(host_of_node(&silent), None);
    }
}
