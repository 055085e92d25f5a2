//! Servers of a system that exited during a trial: in the plots over time, as a table and as JSON.

use measure::MemberExit;
use serde_json::{Value, json};

use crate::digest::Trial;
use crate::svg::Moment;
use crate::table::Table;

/// The time that a server may take, from when its connections closed until its process has exited, s.
const EXIT_TIME: f64 = 1.0;

/// The exits as moments of a plot that ends at `end`, s. One from before the load is at its begin, and one that ended the
/// load at its end.
pub(crate) fn moments(trial: &Trial<'_>, end: f64) -> Vec<Moment> {
    let time_after_end = if trial.has_crashed() { EXIT_TIME } else { 0.0 };
    let place = |at: f64| if at <= end + time_after_end { at.min(end) } else { at };
    let exits = trial.record.member_exits.iter();
    let moments = exits.map(|exit| Moment {
        x: exit.at_ns.map_or(0.0, |at_ns| place(seconds(at_ns))),
        label: format!("{} exited", exit.member),
        note: format!("{} exited {}: {}", exit.member, when(exit), exit.status),
    });
    moments.filter(|moment| moment.x <= end).collect()
}

/// A row for each exit, on the clock of the plots over time.
pub(crate) fn table(trial: &Trial<'_>) -> Table {
    let mut table = Table::new().words("server").words("role").words("exited").words("with");
    for exit in &trial.record.member_exits {
        table.row(vec![exit.member.clone(), exit.role.clone(), when(exit), exit.status.clone()]);
    }
    table
}

/// The ends of the logs of those that exited, each with a title.
pub(crate) fn logs<'a>(trial: &'a Trial<'_>) -> impl Iterator<Item = (String, &'a str)> {
    let logged = trial.record.member_exits.iter().filter(|exit| !exit.log.is_empty());
    logged.map(|exit| (format!("End of the log of {}", exit.member), exit.log.as_str()))
}

pub(crate) fn json(trial: &Trial<'_>) -> Vec<Value> {
    let exit = |exit: &MemberExit| {
        json!({
            "member": exit.member,
            "role": exit.role,
            "at_ns": exit.at_ns,
            "status": exit.status,
            "log": exit.log,
        })
    };
    trial.record.member_exits.iter().map(exit).collect()
}

fn when(exit: &MemberExit) -> String {
    match exit.at_ns {
        Some(at_ns) => format!("at {:.3} s", seconds(at_ns)),
        None => "before the load".to_owned(),
    }
}

fn seconds(at_ns: u64) -> f64 {
    at_ns as f64 / 1e9
}
