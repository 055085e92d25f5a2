//! The times of a trial in which no transaction succeeded or dyno was stalled. There may be hundreds of
//! thousands: tables have the longest, and plots show together what is too close to be told apart.

use std::cmp::Reverse;

use crate::digest::Trial;
use crate::number::{count, latency_ns};
use crate::svg::{Shade, ShadeKind};
use crate::table::Table;

/// More rows than this are not read.
const ROWS_MAX: usize = 100;

/// Shades that are closer than this part of the plot cannot be told apart.
const APART: f64 = 1e-3;

/// Outages of one trial, on the clock of the plots over time, and the caption of their table.
pub(crate) fn outages(trial: &Trial<'_>) -> (Table, String) {
    let mut table = Table::new()
        .words("outage from")
        .numbers("for")
        .numbers("connections lost")
        .numbers("reconnects");
    let end = trial.record.intervals.last().map_or(0, |interval| interval.end_ns);
    let all = trial.outages();
    for outage in longest(all.iter().collect(), |outage| outage.length_ns(end)) {
        let length = latency_ns(outage.length_ns(end));
        let open = if outage.end_ns.is_none() { " or more" } else { "" };
        table.row(vec![
            format!("{:.3} s", outage.start_ns as f64 / 1e9),
            format!("{length}{open}"),
            count(outage.failures),
            count(outage.reconnects),
        ]);
    }
    (table, caption("Outages", all.len()))
}

/// Times in which dyno did not run, on the clock of the plots over time, and the caption of their table.
pub(crate) fn stalls(trial: &Trial<'_>) -> (Table, String) {
    let mut table = Table::new().words("dyno was stalled from").numbers("for").words("generator");
    let all = trial.stalls().count();
    for (name, stall) in longest(trial.stalls().collect(), |(_, stall)| stall.length_ns()) {
        let start = format!("{:.3} s", stall.start_ns as f64 / 1e9);
        table.row(vec![start, latency_ns(stall.length_ns()), name.to_owned()]);
    }
    let table = table.without_columns(|head, cells| {
        head == "generator" && cells.iter().all(|cell| cell.is_empty())
    });
    (table, caption("Stalls of dyno itself", all))
}

/// The longest of some spans, in their order.
fn longest<T>(spans: Vec<T>, length_ns: impl Fn(&T) -> u64) -> Vec<T> {
    let mut kept: Vec<(usize, T)> = spans.into_iter().enumerate().collect();
    kept.sort_by_key(|(_, span)| Reverse(length_ns(span)));
    kept.truncate(ROWS_MAX);
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, span)| span).collect()
}

fn caption(name: &str, all: usize) -> String {
    if all <= ROWS_MAX {
        return name.to_owned();
    }
    format!(
        "{name}: the longest {ROWS_MAX} of {}, all of which are in report.json",
        count(all as u64)
    )
}

/// The outages and the stalls of dyno within a plot that ends at `end`, s.
pub(crate) fn shades(trial: &Trial<'_>, end: f64) -> Vec<Shade> {
    let outages = trial.outages().iter().map(|outage| {
        let from = outage.start_ns as f64 / 1e9;
        let to = outage.end_ns.map_or(end, |end| end as f64 / 1e9);
        let (lost, made) = (count(outage.failures), count(outage.reconnects));
        let more = if outage.end_ns.is_none() { " or more" } else { "" };
        let length = format!("{:.3} s{more}", to.min(end) - from);
        let note = match outage.failures {
            0 => format!("no transaction succeeded for {length}"),
            _ => format!("outage of {length}: {lost} connections lost, {made} made again"),
        };
        Shade { from, to, kind: ShadeKind::Outage, note }
    });
    let stalls = trial.stalls().map(|(name, stall)| {
        let what = if name.is_empty() { "dyno" } else { name };
        let (from, to) = (stall.start_ns as f64 / 1e9, stall.end_ns as f64 / 1e9);
        let note = format!("{what} was stalled for {}", latency_ns(stall.length_ns()));
        Shade { from, to, kind: ShadeKind::Stall, note }
    });
    let mut shades = together(outages, end);
    shades.extend(together(stalls, end));
    shades
}

/// Shades of one kind within a plot, neighbours as one that are too close to be told apart.
fn together(shades: impl Iterator<Item = Shade>, end: f64) -> Vec<Shade> {
    let shades = shades.filter(|shade| shade.from < end);
    let mut shades: Vec<Shade> =
        shades.map(|shade| Shade { to: shade.to.min(end), ..shade }).collect();
    // Those of several generators overlap.
    shades.sort_by(|one, other| one.from.total_cmp(&other.from));
    shades.chunk_by(|one, next| next.from - one.to < end * APART).map(as_one).collect()
}

fn as_one(shades: &[Shade]) -> Shade {
    let [first, others @ ..] = shades else { unreachable!("a chunk is not empty") };
    if others.is_empty() {
        return first.clone();
    }
    let to = shades.iter().map(|shade| shade.to).fold(first.to, f64::max);
    let sum: f64 = shades.iter().map(|shade| shade.to - shade.from).sum();
    let (times, what) = (count(shades.len() as u64), first.kind.label());
    let note = format!("{times} times within {:.3} s: {what}, {sum:.3} s in all", to - first.from);
    Shade { to, note, ..first.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::sample;

    /// A run with an outage every 10 ms, which lasts for a millisecond, and every hundredth time for 7.
    fn often(count: u64) -> record::Run {
        let mut run = sample::run();
        let outage = |at: u64| measure::Outage {
            start_ns: at * 10_000_000,
            end_ns: Some(at * 10_000_000 + if at % 100 == 99 { 7_000_000 } else { 1_000_000 }),
            failures: 1,
            reconnects: 1,
        };
        run.trials[0].outages = (0..count).map(outage).collect();
        run
    }

    #[test]
    fn a_table_of_many_outages_has_the_longest_in_their_order() {
        let run = often(20_000);
        let digest = Digest::new(&run);
        let (table, caption) = outages(&digest.trials[0]);
        assert_eq!(table.rows(), ROWS_MAX);
        let text = table.markdown();
        let rows: Vec<&str> = text.lines().filter(|row| row.contains(" s ")).collect();
        assert_eq!(rows.len(), ROWS_MAX);
        assert!(rows.iter().all(|row| row.contains("7.00 ms")), "{text}");
        assert!(rows[0].contains("0.990 s") && rows[99].contains("99.990 s"), "{text}");
        assert_eq!(caption, "Outages: the longest 100 of 20,000, all of which are in report.json");
        let run = often(3);
        assert_eq!(outages(&Digest::new(&run).trials[0]).1, "Outages");
    }

    #[test]
    fn shades_too_close_to_tell_apart_are_one_with_their_sum() {
        let run = often(20_000);
        let digest = Digest::new(&run);
        // Each is 9 ms from the next: a thousandth of 10 s is more, and of 2 s less.
        let [one] = &shades(&digest.trials[0], 10.0)[..] else { panic!("several") };
        assert_eq!((one.from, one.to), (0.0, 9.997));
        assert_eq!(one.note, "1,000 times within 9.997 s: outage, 1.060 s in all");
        let apart = shades(&digest.trials[0], 2.0);
        assert_eq!(apart.len(), 200);
        assert_eq!(apart[1].note, "outage of 0.001 s: 1 connections lost, 1 made again");
    }
}
