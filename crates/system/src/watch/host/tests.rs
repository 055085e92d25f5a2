//! Readings of the machine that the tests run on.

use measure::Side;

use super::*;

fn myself(side: Side) -> Process {
    Process { name: "test".to_owned(), pid: std::process::id(), side }
}

/// Uses CPU time until the kernel has counted some of it.
fn work_until(mut is_done: impl FnMut() -> bool) {
    let mut sum = 0_u64;
    while !is_done() {
        (0..1_000_000_u64).for_each(|step| sum = std::hint::black_box(sum ^ step));
    }
}

#[test]
fn cpu_time_of_a_process_is_part_of_its_hosts() {
    let clock = net::Clock::monotonic();
    let mut watch = HostWatch::new(vec![myself(Side::Client)]);
    let host = watch.describe().unwrap();
    assert!(host.cpu_threads > 0 && host.memory_bytes.unwrap() > 0);
    let before = watch.read(0).unwrap();
    let start = before.processes[0].unwrap();
    let mut after = before.clone();
    work_until(|| {
        after = watch.read(1).unwrap();
        after.processes[0].unwrap().cpu_ns() >= start.cpu_ns() + 200_000_000
    });
    let used = after.processes[0].unwrap();
    let own = used.cpu_ns() - start.cpu_ns();
    let cpu = after.cpu.since(&before.cpu);
    // The time that was not idle, by the clock: a kernel loses ticks of busy time while its machine is paused. Idle
    // time and that of a process count in ticks of 10 ms.
    let not_idle = (clock.now() * host.cpu_threads + 50_000_000).saturating_sub(cpu.idle_ns);
    assert!(own <= not_idle, "{own} of {not_idle}: {cpu:?}");
    assert!(cpu.total_ns() >= cpu.busy_ns());
    assert!(used.rss_bytes > 0 && used.threads > 0);
    assert!(after.context_switches > before.context_switches);
    assert!(after.memory_available_bytes.unwrap() < host.memory_bytes.unwrap());
    assert!(after.loopback.is_some() && after.segments.is_some());
}

#[test]
fn busy_threads_of_servers_are_sampled() {
    let mut watch = HostWatch::new(vec![myself(Side::Client), myself(Side::Server)]);
    for _ in 0..3 {
        // This thread runs while it takes the sample.
        assert!(watch.sample() >= LOOK_PERIOD);
    }
    let reading = watch.read(0).unwrap();
    assert_eq!(reading.processes[0].unwrap().runnable, measure::Runnable::default());
    let runnable = reading.processes[1].unwrap().runnable;
    assert_eq!(runnable.looks, 3);
    assert!(runnable.max >= 1 && runnable.mean().unwrap() >= 1.0, "{runnable:?}");
    let next = watch.read(1).unwrap();
    assert_eq!(next.processes[1].unwrap().runnable.looks, 0, "looks count once");
}

#[test]
fn an_exited_process_has_no_reading() {
    let mut child = crate::process::command("sleep").arg("60").spawn().unwrap();
    let process = Process { name: "sleep".to_owned(), pid: child.id(), side: Side::Server };
    let mut watch = HostWatch::new(vec![process]);
    assert!(watch.read(0).unwrap().processes[0].is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(watch.read(1).unwrap().processes, [None]);
    watch.sample();
    assert_eq!(watch.read(2).unwrap().processes, [None]);
}

#[test]
fn context_switches_and_disk_writes_of_a_server_are_counted() {
    let mut watch = HostWatch::new(vec![myself(Side::Client), myself(Side::Server)]);
    let before = watch.read(0).unwrap();
    let own = before.processes[0].unwrap();
    assert_eq!((own.context_switches, own.disk), (None, None), "of servers alone");
    let first = before.processes[1].unwrap();
    // Each sleep gives up the CPU and gets it back.
    (0..50).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
    let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
    std::io::Write::write_all(&mut file, &[7; 1 << 20]).unwrap();
    file.as_file().sync_all().unwrap();
    let written = || procfs::process::Process::myself().unwrap().io().unwrap().write_bytes;
    let at_least = written();
    let last = watch.read(1).unwrap().processes[1].unwrap();
    assert!(last.context_switches.unwrap() >= first.context_switches.unwrap() + 50);
    assert!((at_least..=written()).contains(&last.disk.unwrap().written_bytes), "{last:?}");
}
