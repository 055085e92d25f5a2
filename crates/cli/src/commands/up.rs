//! `dyno up SYSTEM`: a managed system without a run, in the foreground or in a background process.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use driver::Timeouts;
use engine::{Stop, StopLevel};
use plan::{Draft, DraftPart, Plan, Problems};
use runner::{Event, RunListener, progress_listener};
use system::{
    Access, CACHE_VARIABLE, LostMember, ProcessReference, Running, Scratch, ServerProcess, System,
    private_file,
};

use super::WrongArgument;
use super::option_names::at_argument;
use super::start;
use crate::args::UpArgs;
use crate::command_line;
use crate::detached::{self, DetachedSystem};
use crate::progress::{PlannedLoad, ProgressDisplay};
use crate::signals;
use crate::start_request;

const URL_LABEL: &str = "  url      ";
/// Interval between two checks for changes.
const POLL_PERIOD: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &UpArgs) -> Result<ExitCode> {
    if let Some(server) = &args.start {
        return start::run(server, args.system.as_deref());
    }
    let Some(argument) = &args.system else { return list() };
    let (kind, system) = read(argument, &args.options)?;
    let stop = match &args.entry {
        // The background process has left the terminal and does not receive its signals.
        Some(_) => nix::unistd::setsid().map_err(anyhow::Error::from).and_then(|_| listen())?,
        None => listen()?,
    };
    let mut progress = ProgressDisplay::new(false, PlannedLoad::default(), Some(1));
    progress.on_event(Event::SystemStarting { name: &kind });
    let done = bring_up(&kind, system.as_ref(), args, &stop, &mut progress);
    progress.finish();
    match done {
        Ok(Some(up)) => keep_up(up, &kind, args.entry.as_deref(), &stop),
        Ok(None) => Ok(ExitCode::SUCCESS),
        // Incomplete work has been undone.
        Err(_) if stop.is_asked() => Ok(ExitCode::from(signals::INTERRUPTED)),
        Err(cause) => Err(cause),
    }
}

/// A running system and the folder of its data, which is removed after the system.
struct RunningSystem {
    running: Running,
    scratch: Scratch,
}

/// Prepares the start, then starts the system in this process or in another one, as requested. Returns the system
/// that this process must keep running.
fn bring_up(
    kind: &str,
    system: &dyn System,
    args: &UpArgs,
    stop: &Stop,
    progress: &mut ProgressDisplay,
) -> Result<Option<RunningSystem>> {
    system.provide(&mut progress_listener(stop, progress))?;
    if args.build_only {
        return Ok(None);
    }
    if args.detach {
        return detach(kind, args, stop, progress).map(|()| None);
    }
    let scratch = Scratch::make()?;
    let running = system.start(
        scratch.path(),
        Timeouts::default(),
        &mut progress_listener(stop, progress),
    )?;
    progress.end_stages();
    Ok(Some(RunningSystem { running, scratch }))
}

fn listen() -> Result<Stop> {
    signals::listen().context("cannot listen for signals")
}

/// The system described by an argument and options, checked as in a plan.
fn read(argument: &str, options: &[String]) -> Result<(String, Box<dyn System>)> {
    let (kind, mut pairs) = system::from_argument(argument);
    pairs.extend(super::subject::split_all(options, "--option")?);
    let part = DraftPart { kind: kind.clone(), options: pairs, ..DraftPart::default() };
    // A plan needs a workload; it is not used here.
    let workload =
        DraftPart { kind: "sysbench/oltp_point_select".to_owned(), ..DraftPart::default() };
    let draft = Draft { systems: vec![part], workloads: vec![workload], ..Draft::default() };
    let source = plan::compose(&draft);
    source.hide_secrets();
    let named = |problems| at_argument(problems, argument, options);
    let plan = Plan::parse(source).map_err(named)?;
    let system = system::read(&plan.systems[0], &plan.source.folder)
        .map_err(|problems| named(Problems::new(&plan.source, problems)))?;
    Ok((kind, system))
}

/// Keeps the system running until a stop is requested or it ends by itself.
fn keep_up(
    mut up: RunningSystem,
    kind: &str,
    entry: Option<&Path>,
    stop: &Stop,
) -> Result<ExitCode> {
    let running = &mut up.running;
    if running.processes().is_empty() {
        let message = format!("`{kind}` has no server to start: a run uses it directly");
        return Err(WrongArgument(message).into());
    }
    let login = write_login(running, &up.scratch)?;
    let text = describe(running, login.as_deref());
    let kept = DetachedSystem::of_this_process(kind, login.clone(), &text);
    let is_detached = entry.is_some();
    let entry = match entry {
        Some(entry) => {
            kept?.write(entry)?;
            Some(entry.to_owned())
        }
        None => {
            let text = with_password(&text, login.as_deref());
            super::print(&format!("{text}Ctrl-C stops it and removes its data.\n"))?;
            // Without a folder for entries, `dyno up --list` does not know of it.
            let entry = detached::new_entry(kind);
            entry.and_then(|entry| kept?.write(&entry).map(|()| entry)).ok()
        }
    };
    if let Some(why) = follow(running, (kind, login.as_deref()), entry.as_deref(), stop) {
        // The entry of a detached system stays, because its user has not seen the reason yet.
        entry.filter(|_| !is_detached).iter().for_each(|entry| detached::remove(entry));
        bail!(why);
    }
    // A second request kills it.
    up.running.stop(&mut |_| match stop.level() {
        StopLevel::AtOnce => ControlFlow::Break(()),
        StopLevel::None | StopLevel::Gracefully => ControlFlow::Continue(()),
    })?;
    entry.iter().for_each(|entry| detached::remove(entry));
    Ok(ExitCode::SUCCESS)
}

/// Follows a system until a stop is requested, or nothing of it is left: then with the reason. Tells which servers exit,
/// and starts them again on request.
fn follow(
    running: &mut Running,
    (kind, login): (&str, Option<&Path>),
    entry: Option<&Path>,
    stop: &Stop,
) -> Option<String> {
    let mut lost = Vec::new();
    while !stop.is_asked() {
        if let Some(why) = end_of(running) {
            return Some(why);
        }
        let request = entry.and_then(start_request::next);
        let started = request.map(|server| start_member(running, &server, stop));
        let now = running.lost_members();
        if now != lost {
            report_exits(running, &lost, &now);
            lost = now;
            // If it cannot be written, `dyno up --list` shows what was so before; the system goes on.
            let _ = entry.map(|entry| write_entry(running, (kind, login), entry));
        }
        if let (Some(entry), Some(done)) = (entry, started) {
            start_request::answer(entry, &done);
        }
        thread::sleep(POLL_PERIOD);
    }
    None
}

/// Writes what there is to know of a system now.
fn write_entry(
    running: &Running,
    (kind, login): (&str, Option<&Path>),
    entry: &Path,
) -> Result<()> {
    let text = describe(running, login);
    DetachedSystem::of_this_process(kind, login.map(Path::to_path_buf), &text)?.write(entry)
}

/// Why nothing is left that could be kept up: a cluster that goes on without servers can start them again as long as
/// one of them runs.
fn end_of(running: &mut Running) -> Option<String> {
    let is_left = running.goes_on_without_members()
        && running.lost_members().len() < running.processes().len();
    if is_left { None } else { running.exited() }
}

/// Starts a server that has exited, unless a stop is requested.
fn start_member(running: &mut Running, server: &str, stop: &Stop) -> Result<()> {
    running.start_member(server, &mut |_| match stop.is_asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

/// Tells which servers have exited since those of `before`, and whether clients can still be served.
fn report_exits(running: &mut Running, before: &[LostMember], now: &[LostMember]) {
    for member in now.iter().filter(|member| !before.contains(member)) {
        let LostMember { name, status, .. } = member;
        let log = match member.last_words() {
            log if log.is_empty() => log,
            log => format!("; the end of its log:\n{log}"),
        };
        super::print_message(&format!(
            "{name} exited ({status}), the others go on; {}{log}",
            start_hint(name)
        ));
    }
    if let Some(why) = running.exited() {
        super::print_message(why.lines().next().unwrap_or_default());
    }
}

fn start_hint(server: &str) -> String {
    format!("`dyno up --start {server}` starts it again")
}

/// Writes the URL with its password to a file that is removed with the system's data.
fn write_login(running: &Running, scratch: &Scratch) -> Result<Option<PathBuf>> {
    let Some(login) = running.login() else { return Ok(None) };
    let file = scratch.path().join("url");
    login.write(&file)?;
    Ok(Some(file))
}

/// Kind and address of the system, without its password; `login` is the file with the password.
fn describe(running: &Running, login: Option<&Path>) -> String {
    let mut text = format!("{}\n", running.identity().title());
    match (running.login(), running.access()) {
        (Some(url), _) => text.push_str(&format!("{URL_LABEL}{url}\n")),
        (None, Access::Database(target)) => text.push_str(&format!("{URL_LABEL}{target}\n")),
        (None, Access::Service(service)) => text.push_str(&format!("{URL_LABEL}{service}\n")),
        (None, Access::Simulated(_)) => {}
    }
    if let Some(file) = login {
        text.push_str(&format!("  login    {} (the URL with its password)\n", file.display()));
    }
    for page in running.metrics() {
        text.push_str(&format!(
            "  metrics  http://{}{} ({})\n",
            page.address, page.path, page.role
        ));
    }
    let lost = running.lost_members();
    for ServerProcess { pid, role } in running.processes() {
        let line = match lost.iter().find(|member| member.name == role) {
            Some(LostMember { status, .. }) => {
                format!("  exited   {role} ({status}); {}\n", start_hint(&role))
            }
            None => format!("  process  {pid} ({role})\n"),
        };
        text.push_str(&line);
    }
    text
}

/// The same text, with the password in the URL if the output is a terminal: output to a file or another program may
/// be stored where others can read it.
fn with_password(text: &str, login: Option<&Path>) -> String {
    let file = login.filter(|_| io::stdout().is_terminal());
    let Some(url) = file.and_then(|file| fs::read_to_string(file).ok()) else {
        return text.to_owned();
    };
    let show = |line: &str| {
        if line.starts_with(URL_LABEL) {
            format!("{URL_LABEL}{}\n", url.trim_end())
        } else {
            format!("{line}\n")
        }
    };
    text.lines().map(show).collect()
}

/// Starts a background process that keeps the system, and returns once the system is up.
fn detach(kind: &str, args: &UpArgs, stop: &Stop, progress: &mut ProgressDisplay) -> Result<()> {
    let entry = detached::new_entry(kind)?;
    let log = entry.with_extension("log");
    let file =
        private_file::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let errors = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
    let mut keeper = keeper(args, &entry)
        .and_then(|mut command| command.stdout(file).stderr(errors).spawn())
        .context("cannot start the process that keeps the system running")?;
    let mut told = 0;
    let mut is_ending = false;
    loop {
        let detached = detached::read(&entry);
        // All output from before the entry was made is available by now.
        let said = detached::log_of(&entry);
        told += pass_on(said.get(told..).unwrap_or_default(), progress);
        if let Some(detached) = detached {
            progress.finish();
            let text = with_password(&detached.text, detached.login.as_deref());
            return super::print(&format!("{text}`dyno down {kind}` stops it.\n"));
        }
        if let Some(status) = keeper.try_wait()? {
            // The whole output, although part of it was printed before: the reason may be anywhere in it.
            let said = detached::log_of(&entry);
            detached::remove(&entry);
            bail!("{kind} did not start ({status}):\n{}", said.trim_end());
        }
        if stop.is_asked() && !is_ending {
            // It is our child, and its status was not collected yet: its number is its own.
            if let Some(process) = ProcessReference::open(keeper.id()) {
                detached::end(&process, keeper.id())?;
            }
            is_ending = true;
        }
        thread::sleep(POLL_PERIOD);
    }
}

/// The command of the process that keeps the system. Its options may contain secrets, so they are hidden. Of this
/// process's own variables it gets only the one for the folder of builds.
fn keeper(args: &UpArgs, entry: &Path) -> io::Result<Command> {
    let mut words: Vec<OsString> = vec!["up".into()];
    words.extend(args.system.iter().map(OsString::from));
    words.extend(["--entry".into(), entry.as_os_str().to_owned()]);
    words.extend(args.options.iter().flat_map(|option| ["--option".into(), option.into()]));
    let mut command = command_line::hidden(&words)?;
    command.envs(env::var_os(CACHE_VARIABLE).map(|folder| (CACHE_VARIABLE, folder)));
    Ok(command)
}

/// Prints the complete lines of another process's output; returns their length in bytes.
fn pass_on(said: &str, progress: &mut ProgressDisplay) -> usize {
    let whole = said.rfind('\n').map_or(0, |end| end + 1);
    for text in said[..whole].lines() {
        progress.on_note(text);
    }
    whole
}

fn list() -> Result<ExitCode> {
    let mut text = String::new();
    for (entry, detached) in detached::all()? {
        if detached.keeper().is_some() {
            text.push_str(&detached.text);
        } else {
            let why = detached::log_of(&entry);
            let title = detached.title();
            text.push_str(&format!("{title}\n  has ended; `dyno down` removes this entry\n{why}"));
        }
    }
    if text.is_empty() {
        text.push_str("no system is up\n");
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
