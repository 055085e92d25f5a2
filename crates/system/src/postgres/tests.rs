//! Tests on an external server, which `cargo xtask test` provides.

use std::os::unix::fs::PermissionsExt;

use measure::{Process, Side};

use super::*;
use crate::daemon::ignore_progress;
use crate::testing::started;
use crate::watch::HostWatch;

fn server() -> String {
    let name = "DYNO_TEST_POSTGRES";
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask test`"))
}

fn problems(options: &str) -> String {
    let Err(problems) = read(&Options::parse(options).unwrap(), Path::new("/")) else {
        panic!("{options} was accepted")
    };
    problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_reachable_postgresql_is_identified() {
    let options = format!("url = \"{}\"", server());
    let running = started(read, &options, Path::new("/")).unwrap();
    let identity = running.identity();
    assert_eq!(identity.product, "PostgreSQL");
    assert!(identity.version.starts_with(|first: char| first.is_ascii_digit()), "{identity:?}");
    let setting = |name| identity.settings.iter().find(|(it, _)| it == name).map(|(_, it)| it);
    assert_eq!(setting("statements").map(String::as_str), Some("prepared by name"));
    assert!(setting("shared_buffers").is_some() && setting("collation").is_some());
    assert!(running.limits().connections.unwrap().max >= 1);
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn a_missing_database_is_created_once_and_named_otherwise() {
    let url = server();
    let (place, _) = url.rsplit_once('/').unwrap();
    let url = format!("{place}/dyno created");
    let run = |options: &str| {
        let started = started(read, &format!("url = \"{url}\"\n{options}"), Path::new("/"));
        started.map(|running| running.stop(&mut ignore_progress).unwrap())
    };
    let told = format!("{:#}", run("").unwrap_err());
    assert!(told.contains("3D000") && told.contains("--create-database"), "{told}");
    run("create_database = true").unwrap();
    run("create_database = true").unwrap();
    let options = format!("url = \"{}\"", server());
    let running = started(read, &options, Path::new("/")).unwrap();
    let crate::Access::Database(target) = running.access() else { panic!() };
    rows(target, "DROP DATABASE \"dyno created\"", &mut ignore_progress).unwrap();
}

#[test]
fn a_valid_url_is_required_and_options_go_before_it() {
    assert_eq!(problems(""), "`url` is missing: where is the server?");
    let wrong = problems("url = \"mysql://me:secret@h/d\"");
    assert!(wrong.starts_with("`url` is wrong: "), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
    let url = "url = \"postgres://u@h/d?sslmode=disable&ps=text\"";
    for given in ["ps = \"off\"", "ssl_mode = \"verify-full\""] {
        assert!(read(&Options::parse(&format!("{url}\n{given}")).unwrap(), Path::new("/")).is_ok());
    }
    let wrong = problems(&format!("{url}\nps = \"perhaps\""));
    assert!(wrong.contains("perhaps"), "{wrong}");
}

fn value(server: &crate::Daemon, sql: &'static str) -> String {
    let url = Url::parse(&server.url()).unwrap();
    let target = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
    let rows = rows(&target, sql, &mut ignore_progress).unwrap();
    format!("{:?}", rows[0][0])
}

#[test]
fn servers_that_start_at_once_have_data_and_passwords_of_their_own() {
    let start_one = || {
        std::thread::spawn(|| {
            let scratch = tempfile::tempdir().unwrap();
            std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).unwrap();
            let server = start(Settings::default(), scratch.path()).unwrap();
            value(&server, "CREATE TABLE mine (id int); SELECT 1");
            (server.url(), server, scratch)
        })
    };
    let started: Vec<_> = (0..3).map(|_| start_one()).collect();
    let servers: Vec<_> = started.into_iter().map(|it| it.join().unwrap()).collect();
    let password = |url: &str| url.split(['@', ':']).nth(2).unwrap().to_owned();
    let passwords: std::collections::BTreeSet<_> =
        servers.iter().map(|(url, ..)| password(url)).collect();
    assert_eq!(passwords.len(), 3);
    // The next one has no table of theirs.
    let (_, server, _scratch) = start_one().join().unwrap();
    server.stop().unwrap();
}

#[test]
fn a_data_folder_that_is_kept_and_broken_is_made_anew() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).unwrap();
    // Checksums are those of no other test at this time.
    let settings = || Settings { checksums: Some(true), ..Settings::default() };
    start(settings(), scratch.path()).unwrap().stop().unwrap();
    let kept = crate::cache_folder().unwrap().join("postgres");
    let folders = || std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path());
    let control = |folder: &Path| folder.join("data/global/pg_control");
    // Of the same length, so that only the server can see it.
    for folder in folders().filter(|folder| control(folder).exists()) {
        let length = std::fs::metadata(control(&folder)).unwrap().len();
        std::fs::write(control(&folder), vec![0; length as usize]).unwrap();
    }
    let server = start(settings(), scratch.path()).unwrap();
    assert!(value(&server, "SELECT current_setting('data_checksums')").contains("on"));
    server.stop().unwrap();
}

#[test]
fn a_server_that_was_killed_leaves_no_shared_memory() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    let segment = shared_memory::segment(&server.server_folder.data()).unwrap();
    let is_there = || {
        let all = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        all.lines().any(|line| line.split_whitespace().nth(1) == Some(&segment.to_string()))
    };
    let listed = shared_memory::file_of(shared_memory::control(segment).unwrap());
    assert!(is_there() && listed.exists());
    let pid = nix::unistd::Pid::from_raw(server.pid().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    while server.exited().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(is_there() && listed.exists(), "the kernel keeps it");
    drop(server);
    assert!(!is_there() && !listed.exists());
}

/// The CPU time of a server and its processes, those included that have ended, in ticks of the kernel; `None` when one
/// has just ended, whose time was then in no place that was read.
fn ticks_once(pid: u32) -> Option<u64> {
    let own = |pid: u32| {
        let stat = procfs::process::Process::new(pid.cast_signed()).ok()?.stat().ok()?;
        Some(stat.utime + stat.stime + u64::try_from(stat.cutime + stat.cstime).unwrap())
    };
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let children: Option<Vec<u64>> =
        children.split_whitespace().map(|pid| own(pid.parse().unwrap())).collect();
    Some(own(pid).unwrap() + children?.iter().sum::<u64>())
}

fn ticks(pid: u32) -> u64 {
    (0..100).find_map(|_| ticks_once(pid)).unwrap()
}

#[test]
fn the_cpu_of_sessions_is_watched_while_they_live_and_after_they_have_ended() {
    let scratch = tempfile::tempdir().unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    let url = Url::parse(&server.url()).unwrap();
    let target = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
    let process = Process { name: "server".to_owned(), pid: server.pid(), side: Side::Server };
    let mut watch = HostWatch::new(vec![process]);
    let mut cpu_ns = || watch.read(0).unwrap().processes[0].unwrap().cpu_ns();
    let (before, watched_before) = (ticks(server.pid()), cpu_ns());
    let work = |seconds: f64| {
        let target = target.clone();
        let sql = format!(
            "DO $$ BEGIN WHILE clock_timestamp() < now() + interval '{seconds} s' LOOP END LOOP; END $$"
        );
        let (told, wait) = std::sync::mpsc::channel::<()>();
        let (ready, all_ready) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut runtime = net::Runtime::new(net::Clock::monotonic()).unwrap();
            let handle = runtime.handle();
            let session = runtime.block_on(async move {
                let mut session = target.connect(&handle, 0).await.unwrap();
                session.run(&sql).await.unwrap();
                session
            });
            ready.send(()).unwrap();
            let _ = wait.recv();
            runtime.block_on(session.unwrap().close()).unwrap();
        });
        (told, thread, all_ready)
    };
    // Sixty sessions end before the reading, and four live on.
    let sessions: Vec<_> = (0..64).map(|_| work(1.0)).collect();
    let mut living = Vec::new();
    for (at, (told, thread, ready)) in sessions.into_iter().enumerate() {
        ready.recv().unwrap();
        if at < 60 {
            drop(told);
            thread.join().unwrap();
        } else {
            living.push((told, thread));
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let watched_s = (cpu_ns() - watched_before) as f64 / 1e9;
    for (told, thread) in living {
        drop(told);
        thread.join().unwrap();
    }
    let ticks = (ticks(server.pid()) - before) as f64;
    let used_s = ticks / procfs::ticks_per_second() as f64;
    assert!(used_s > 0.5, "{used_s}");
    assert!((watched_s / used_s - 1.0).abs() < 0.03, "{watched_s} s of {used_s} s");
}
