//! What was watched over the windows of one trial, on one clock. Readings of two windows are never compared: between
//! them the load was on other systems.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use measure::{Connections, Gap, Host, Nanos, Series, Server, Watched};
use record::TrialRecord;

use super::slot::Slot;

pub(super) fn pooled(windows: &[(&TrialRecord, Slot)]) -> Watched {
    let mut all = Watched::default();
    let mut known = HashMap::new();
    for (watched, slot) in windows.iter().map(|(window, slot)| (&window.watched, *slot)) {
        if all.kinds.is_empty() {
            all.kinds.clone_from(&watched.kinds);
        }
        watched.hosts.iter().for_each(|host| add_host(&mut all.hosts, host, slot));
        for server in &watched.servers {
            add_server(&mut all.servers, &mut known, server, slot);
        }
        add_connections(&mut all.connections, &watched.connections, slot);
    }
    all
}

/// The readings of a window that tell of its measured time, and how their times are shifted.
struct Chosen {
    range: RangeInclusive<usize>,
    slot: Slot,
    /// How much later than the measured time the last one was taken.
    late_ns: Nanos,
}

impl Chosen {
    /// Those between two of which the middle is in the measured time; `None` when there are none.
    fn of(times_ns: &[Nanos], slot: Slot) -> Option<Self> {
        let is_within =
            |pair: &[Nanos]| (slot.begin_ns..=slot.end_ns).contains(&pair[0].midpoint(pair[1]));
        if slot.begin_ns == slot.end_ns {
            return None;
        }
        let first = times_ns.windows(2).position(is_within)?;
        let last = times_ns.windows(2).rposition(is_within)? + 1;
        // The last one is to be before the end, where the next window begins.
        let late_ns = times_ns[last].saturating_add(1).saturating_sub(slot.end_ns);
        Some(Self { range: first..=last, slot, late_ns })
    }

    /// A time on the clock of all windows.
    fn at(&self, ns: Nanos) -> Nanos {
        let into_ns = ns.saturating_sub(self.slot.begin_ns).saturating_sub(self.late_ns);
        self.slot.at_ns.saturating_add(into_ns)
    }
}

fn add_host(hosts: &mut Vec<Host>, host: &Host, slot: Slot) {
    let times_ns: Vec<Nanos> = host.readings.iter().map(|reading| reading.at_ns).collect();
    let at = hosts.iter().position(|it| it.name == host.name && it.place == host.place);
    let at = at.unwrap_or_else(|| {
        hosts.push(Host { readings: Vec::new(), ..host.clone() });
        hosts.len() - 1
    });
    let Some(chosen) = Chosen::of(&times_ns, slot) else { return };
    let all = &mut hosts[at];
    if all.processes != host.processes {
        return;
    }
    let readings = host.readings[chosen.range.clone()].iter().cloned();
    let first = all.readings.len();
    all.readings.extend(readings.map(|mut reading| {
        reading.at_ns = chosen.at(reading.at_ns);
        reading
    }));
    all.joints_ns.extend(all.readings.get(first).map(|reading| reading.at_ns));
}

fn add_connections(all: &mut Connections, connections: &Connections, slot: Slot) {
    if all.absent.is_none() {
        all.absent.clone_from(&connections.absent);
    }
    let times_ns: Vec<Nanos> = connections.readings.iter().map(|it| it.at_ns).collect();
    let Some(chosen) = Chosen::of(&times_ns, slot) else { return };
    let first = all.readings.len();
    all.readings.extend(connections.readings[chosen.range.clone()].iter().map(|reading| {
        measure::ConnectionsReading { at_ns: chosen.at(reading.at_ns), ..*reading }
    }));
    all.joints_ns.extend(all.readings.get(first).map(|reading| reading.at_ns));
}

/// The places of series by their server, their name and their labels.
type Known = HashMap<(usize, String, Vec<(String, String)>), usize>;

fn add_server(servers: &mut Vec<Server>, known: &mut Known, server: &Server, slot: Slot) {
    let at = servers.iter().position(|it| it.name == server.name && it.url == server.url);
    let at = at.unwrap_or_else(|| {
        let (name, url) = (server.name.clone(), server.url.clone());
        servers.push(Server { name, url, ..Server::default() });
        servers.len() - 1
    });
    let all = &mut servers[at];
    for family in &server.families {
        if !all.families.contains(family) {
            all.families.push(family.clone());
        }
    }
    let is_within = |gap: &&Gap| (slot.begin_ns..=slot.end_ns).contains(&gap.at_ns);
    let gaps = server.gaps.iter().filter(is_within).cloned();
    all.gaps.extend(gaps.map(|gap| Gap { at_ns: slot.within(gap.at_ns), ..gap }));
    let Some(chosen) = Chosen::of(&server.answers_ns, slot) else { return };
    let answers_ns = &server.answers_ns[chosen.range.clone()];
    let (Some(first), Some(last)) = (answers_ns.first(), answers_ns.last()) else { return };
    all.joints_ns.push(chosen.at(*first));
    all.answers_ns.extend(answers_ns.iter().map(|at_ns| chosen.at(*at_ns)));
    for series in &server.series {
        let key = (at, series.name.clone(), series.labels.clone());
        let place = *known.entry(key).or_insert_with(|| {
            let (name, labels) = (series.name.clone(), series.labels.clone());
            all.series.push(Series { name, labels, points: Vec::new() });
            all.series.len() - 1
        });
        let points = &mut all.series[place].points;
        points.extend(series.at(*first).map(|value| (chosen.at(*first), value)));
        let later = series.points.iter().filter(|(ns, _)| ns > first && ns <= last);
        points.extend(later.map(|(ns, value)| (chosen.at(*ns), *value)));
    }
}
