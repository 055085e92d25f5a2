//! Readings with known rates.

use measure::{CpuTimes, DiskCounters, Process, Runnable, Side};

use super::*;

const SECOND: Nanos = 1_000_000_000;

fn process(cpu_ns: Nanos, looks: u64, sum: u64, max: u64) -> ProcessReading {
    let runnable = Runnable { looks, sum, max };
    ProcessReading {
        user_ns: cpu_ns,
        rss_bytes: 7,
        threads: 3,
        runnable,
        ..ProcessReading::default()
    }
}

/// Three readings a second apart, and one half a second later.
fn host() -> Host {
    let reading = |at_ns, user_ns, switches, process| HostReading {
        at_ns,
        cpu: CpuTimes { user_ns, softirq_ns: user_ns / 10, ..CpuTimes::default() },
        runnable: Some(switches / 100),
        context_switches: Some(switches),
        memory_available_bytes: Some(600),
        disk_busy_ns: Some([("sda".to_owned(), user_ns / 2)].into()),
        processes: vec![process],
        ..HostReading::default()
    };
    let readings = vec![
        reading(0, 0, 100, Some(process(0, 0, 0, 0))),
        reading(SECOND, SECOND, 300, Some(process(SECOND / 2, 10, 15, 4))),
        reading(2 * SECOND, 3 * SECOND, 900, Some(process(2 * SECOND, 10, 25, 9))),
        reading(5 * SECOND / 2, 3 * SECOND, 1_900, None),
    ];
    let server = Process { name: "server".to_owned(), pid: 1, side: Side::Server };
    let memory_bytes = Some(1_000);
    Host { cpu_threads: 2, memory_bytes, processes: vec![server], readings, ..Host::default() }
}

fn means(sample_windows: &[SampleWindow]) -> Vec<f64> {
    sample_windows.iter().map(|sample_window| sample_window.mean).collect()
}

#[test]
fn counters_become_rates_and_levels_stay_levels() {
    let host = host();
    assert_eq!(means(&HostFigure::CpuUser.of(&host)), [1.0, 2.0, 0.0]);
    assert_eq!(means(&HostFigure::CpuSoftirq.of(&host)), [0.1, 0.2, 0.0]);
    assert_eq!(means(&HostFigure::ContextSwitches.of(&host)), [200.0, 600.0, 2_000.0]);
    assert_eq!(means(&HostFigure::Runnable.of(&host)), [3.0, 9.0, 19.0]);
    assert_eq!(means(&HostFigure::MemoryUsed.of(&host)), [400.0; 3]);
    assert_eq!(means(&HostFigure::DiskBusy.of(&host)), [0.5, 1.0, 0.0]);
    assert_eq!(means(&HostFigure::NetworkSent.of(&host)), [0.0; 0], "nobody told");
}

#[test]
fn disk_busy_is_that_of_the_busiest_disk_of_each_window() {
    let reading = |second: Nanos, system_disk_s: Nanos, data_disk_s: Nanos| HostReading {
        at_ns: second * SECOND,
        disk: Some(DiskCounters::default()),
        disk_busy_ns: Some(
            [("sda", system_disk_s), ("sdb", data_disk_s)]
                .map(|(disk, seconds)| (disk.to_owned(), seconds * SECOND))
                .into(),
        ),
        ..HostReading::default()
    };
    let readings = vec![reading(0, 1_000, 10), reading(10, 1_000, 20), reading(20, 1_005, 21)];
    let host = Host { readings, ..Host::default() };
    assert_eq!(means(&HostFigure::DiskBusy.of(&host)), [1.0, 0.5]);
}

#[test]
fn a_process_has_figures_until_it_exits() {
    let host = host();
    assert_eq!(means(&ProcessFigure::Cpu.of(&host, 0)), [0.5, 1.5]);
    let runnable = ProcessFigure::Runnable.of(&host, 0);
    assert_eq!(means(&runnable), [1.5, 2.5]);
    assert_eq!(
        runnable.iter().map(|sample_window| sample_window.peak).collect::<Vec<_>>(),
        [4.0, 9.0]
    );
    assert_eq!(means(&ProcessFigure::Cpu.of(&host, 1)), [0.0; 0]);
}

#[test]
fn no_cpu_is_told_of_windows_of_a_few_ticks() {
    let mut host = host();
    // Two ticks of a process in 2 ms would be ten hardware threads.
    host.readings.truncate(2);
    host.readings[0].at_ns = SECOND - 2_000_000;
    host.readings[1].cpu.user_ns = 20_000_000;
    host.readings[1].processes = vec![Some(process(20_000_000, 1, 4, 4))];
    let within = (0, SECOND);
    let cpu = |host: &Host| mean_peak(&ProcessFigure::Cpu.of(host, 0), within);
    assert_eq!(mean_peak(&HostFigure::CpuBusy.of(&host), within), None);
    assert_eq!(cpu(&host), None);
    let runnable = mean_peak(&ProcessFigure::Runnable.of(&host, 0), within);
    assert_eq!(runnable, Some(MeanPeak { mean: 4.0, peak: 4.0 }), "a sample needs no ticks");
    host.readings[0].at_ns = SECOND - 100_000_000;
    host.readings[1].processes = vec![Some(process(50_000_000, 1, 4, 4))];
    assert_eq!(cpu(&host), Some(MeanPeak { mean: 0.5, peak: 0.5 }));
    // A short remainder beside longer windows still counts for the mean.
    let rest = HostReading {
        at_ns: SECOND + 10_000_000,
        processes: vec![Some(process(60_000_000, 1, 4, 4))],
        ..HostReading::default()
    };
    host.readings.push(rest);
    let mean = mean_peak(&ProcessFigure::Cpu.of(&host, 0), (0, 2 * SECOND)).unwrap().mean;
    assert!((mean - 0.06 / 0.11).abs() < 1e-9, "{mean}");
}

/// A window of one microsecond that includes a counter's tick.
fn short_rest(from_ns: Nanos) -> SampleWindow {
    SampleWindow {
        from_ns,
        to_ns: from_ns + 1_000,
        mean: 9e4,
        peak: 9e4,
        origin: ValueOrigin::Readings,
    }
}

#[test]
fn means_are_time_weighted_and_peaks_skip_short_windows() {
    let switches = HostFigure::ContextSwitches.of(&host());
    let all = mean_peak(&switches, (0, 5 * SECOND / 2)).unwrap();
    // 1,800 switches in 2.5 s; the half second counts for the peak because it is half of the longest.
    assert_eq!((all.mean, all.peak), (720.0, 2_000.0));
    let first_two = mean_peak(&switches, (0, 2 * SECOND)).unwrap();
    assert_eq!((first_two.mean, first_two.peak), (400.0, 600.0));
    assert_eq!(mean_peak(&switches, (3 * SECOND, 4 * SECOND)), None);
    let with_rest = [&switches[..2], &[short_rest(2 * SECOND)]].concat();
    assert_eq!(mean_peak(&with_rest, (0, 3 * SECOND)).unwrap().peak, 600.0);
}

#[test]
fn runnable_threads_max_is_the_highest_sample() {
    let runnable = ProcessFigure::Runnable.of(&host(), 0);
    let figures = mean_peak(&runnable, (0, 3 * SECOND)).unwrap();
    assert_eq!((figures.mean, figures.peak), (2.0, 9.0));
    // A sample in a short remainder counts for the peak.
    let mut cut_short = host();
    let last = &mut cut_short.readings[2];
    last.at_ns = SECOND + 50_000_000;
    if let Some(process) = &mut last.processes[0] {
        process.runnable = Runnable { looks: 1, sum: 12, max: 12 };
    }
    cut_short.readings.truncate(3);
    let runnable = ProcessFigure::Runnable.of(&cut_short, 0);
    assert_eq!(mean_peak(&runnable, (0, 3 * SECOND)).unwrap().peak, 12.0);
}

#[test]
fn merging_sample_windows_keeps_means_and_peaks() {
    let switches = HostFigure::ContextSwitches.of(&host());
    let thin = thin(&switches, 2);
    assert_eq!(thin.len(), 2);
    let first = SampleWindow {
        from_ns: 0,
        to_ns: 2 * SECOND,
        mean: 400.0,
        peak: 600.0,
        origin: ValueOrigin::Readings,
    };
    assert_eq!(thin[0], first);
    let whole = (0, 3 * SECOND);
    assert_eq!(mean_peak(&thin, whole).unwrap().mean, mean_peak(&switches, whole).unwrap().mean);
    assert_eq!(super::thin(&[], 5), []);
    assert_eq!(super::thin(&[&switches[..], &[short_rest(3 * SECOND)]].concat(), 5), switches);
}

#[test]
fn a_counter_reset_has_no_rate() {
    let mut host = host();
    host.readings[1].context_switches = Some(50);
    assert_eq!(HostFigure::ContextSwitches.of(&host).len(), 2);
}
