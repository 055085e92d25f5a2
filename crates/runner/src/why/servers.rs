//! The servers of a system of several: how busy each is, and which of them are slowed down on their own.

use std::time::Duration;

use measure::{MEMBERS_MAX, Nanos, Process, Side, WhyMember};
use system::slowdown::{CpuTax, cpu_time_of_all_ns};
use system::watch::{server_processes, with_descendants};

use crate::test_bed::TestBed;

/// A server that keeps less than this of a core busy is not slowed down: its work is too little to be seen, and holds
/// nothing back.
const BUSY_MIN: f64 = 0.02;

/// One of the servers, with its processes on this machine.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) seen: WhyMember,
    processes: Vec<u32>,
    /// Its CPU time when the experiment began, ns.
    began_ns: Option<Nanos>,
    tax: Option<CpuTax>,
}

/// All servers of a system; none of a system of one.
#[derive(Debug, Default)]
pub(super) struct Servers(Vec<Server>);

impl Server {
    fn of(name: String, processes: Vec<u32>) -> Self {
        let seen = WhyMember { name, busy: None, left_out: None };
        Self { seen, processes, began_ns: None, tax: None }
    }

    fn cpu_ns(&self) -> Option<Nanos> {
        cpu_time_of_all_ns(&self.processes)
    }

    /// Why it cannot be slowed down alone, whatever else is.
    fn unfit(&self) -> Option<String> {
        match self.seen.busy {
            _ if self.processes.is_empty() => {
                Some("its process is not on this machine, or not for dyno to see".to_owned())
            }
            None => Some("the kernel does not tell its CPU time".to_owned()),
            Some(busy) if busy < BUSY_MIN => Some(format!("it keeps {busy:.3} of a core busy")),
            Some(_) => None,
        }
    }
}

impl Servers {
    /// The servers that dyno has started, or those that listen on the addresses of the system.
    pub(super) fn of(test_bed: &TestBed<'_>) -> Self {
        let own = test_bed.processes().into_iter();
        let own: Vec<Server> = own.map(|it| Server::of(it.role, vec![it.pid])).collect();
        let all = if own.is_empty() {
            let at = |address| {
                let listening = server_processes(&[address]).iter().map(|it| it.pid).collect();
                Server::of(address.to_string(), listening)
            };
            test_bed.addresses().into_iter().map(at).collect()
        } else {
            own
        };
        Self(if all.len() > 1 { all } else { Vec::new() })
    }

    /// The same servers, without what this experiment has seen and done.
    pub(super) fn again(&self) -> Self {
        let again = |it: &Server| Server {
            seen: it.seen.clone(),
            processes: it.processes.clone(),
            began_ns: None,
            tax: None,
        };
        Self(self.0.iter().map(again).collect())
    }

    /// Keeps those that use the most CPU, as the pilot has seen them, and leaves the others out. There is room for so many;
    /// `no_room` is why there is none for more.
    pub(super) fn choose(&mut self, pilot: &[WhyMember], (room, no_room): (usize, &str)) {
        for (server, seen) in self.0.iter_mut().zip(pilot) {
            server.seen.busy = seen.busy;
            server.seen.left_out = server.unfit();
        }
        let busy = |it: &Server| match it.seen.left_out {
            None => it.seen.busy.unwrap_or(0.0),
            Some(_) => -1.0,
        };
        self.0.sort_by(|one, other| busy(other).total_cmp(&busy(one)));
        let fit = self.0.iter_mut().filter(|it| it.seen.left_out.is_none());
        let room = room.min(MEMBERS_MAX);
        for server in fit.skip(room) {
            server.seen.left_out = Some(format!("{room} servers use more CPU, and {no_room}"));
        }
    }

    /// Takes hold of those that are kept; one that the kernel refuses is left out. Returns their numbers.
    pub(super) fn attach(&mut self, period: Duration) -> Vec<u8> {
        let mut attached = Vec::new();
        let kept = self.0.iter_mut().take(MEMBERS_MAX).zip(0_u8..);
        for (server, number) in kept.filter(|(it, _)| it.seen.left_out.is_none()) {
            match CpuTax::attach(&server.processes, period) {
                Ok(tax) => {
                    server.tax = Some(tax);
                    attached.push(number);
                }
                Err(error) => server.seen.left_out = Some(format!("{error:#}")),
            }
        }
        attached
    }

    /// Takes in the processes that each has made for the clients that are connected now.
    pub(super) fn find_children(&mut self) {
        for server in &mut self.0 {
            server.processes = with_children(&server.processes);
        }
    }

    pub(super) fn begin(&mut self) {
        for server in &mut self.0 {
            server.began_ns = server.cpu_ns();
        }
    }

    /// All of them, with how busy they were since the beginning, `span_ns` ago, where that is not known from before.
    pub(super) fn end(self, span_ns: Nanos) -> Vec<WhyMember> {
        let seen = |server: Server| {
            let used = server.cpu_ns().zip(server.began_ns);
            let busy = used.map(|(now, began)| now.saturating_sub(began) as f64);
            let busy = busy.map(|ns| ns / span_ns.max(1) as f64);
            WhyMember { busy: server.seen.busy.or(busy), ..server.seen }
        };
        self.0.into_iter().map(seen).collect()
    }

    /// CPU time so far of those that are slowed down alone, ns; 0 where it is not known.
    pub(super) fn cpu_ns(&self) -> [Nanos; MEMBERS_MAX] {
        let mut all = [0; MEMBERS_MAX];
        for (ns, server) in all.iter_mut().zip(&self.0).filter(|(_, it)| it.tax.is_some()) {
            *ns = server.cpu_ns().unwrap_or(0);
        }
        all
    }

    pub(super) fn switch(&mut self, is_on: impl Fn(u8) -> bool) {
        for (server, number) in self.0.iter_mut().zip(0_u8..) {
            if let Some(tax) = &mut server.tax {
                tax.switch(is_on(number));
            }
        }
    }
}

/// Processes of a server, with those that they have started.
pub(super) fn with_children(processes: &[u32]) -> Vec<u32> {
    let process = |pid: &u32| Process { name: String::new(), pid: *pid, side: Side::Server };
    let all = with_descendants(processes.iter().map(process).collect());
    all.iter().map(|process| process.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(busy: &[f64]) -> (Servers, Vec<WhyMember>) {
        let all = busy.iter().zip(1..);
        let all: Vec<Server> =
            all.map(|(_, at)| Server::of(format!("store-{at}"), vec![at])).collect();
        let pilot = all.iter().zip(busy);
        let pilot = pilot.map(|(it, busy)| WhyMember { busy: Some(*busy), ..it.seen.clone() });
        let pilot = pilot.collect();
        (Servers(all), pilot)
    }

    fn told(servers: Servers) -> Vec<(String, Option<String>)> {
        servers.0.into_iter().map(|it| (it.seen.name, it.seen.left_out)).collect()
    }

    #[test]
    fn those_that_use_the_most_cpu_are_kept_and_the_others_are_named_with_the_reason() {
        let (mut all, mut pilot) = servers(&[0.1, 0.9, 0.001, 0.3, 0.5]);
        pilot[4].busy = None;
        all.choose(&pilot, (2, "there is no room"));
        let left_out = |reason: &str| Some(reason.to_owned());
        assert_eq!(
            told(all),
            [
                ("store-2".to_owned(), None),
                ("store-4".to_owned(), None),
                ("store-1".to_owned(), left_out("2 servers use more CPU, and there is no room")),
                ("store-3".to_owned(), left_out("it keeps 0.001 of a core busy")),
                ("store-5".to_owned(), left_out("the kernel does not tell its CPU time")),
            ]
        );
    }

    #[test]
    fn no_more_are_kept_than_a_record_has_places_and_one_elsewhere_is_never() {
        let (mut all, pilot) = servers(&[0.5; MEMBERS_MAX + 2]);
        all.0[0].processes.clear();
        all.choose(&pilot, (20, "a record has eight places"));
        let told = told(all);
        assert_eq!(told.iter().filter(|(_, why)| why.is_none()).count(), MEMBERS_MAX);
        let reason = told.last().unwrap().1.as_deref().unwrap();
        assert!(reason.starts_with("its process is not on this machine"), "{reason}");
    }
}
