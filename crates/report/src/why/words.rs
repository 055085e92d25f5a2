//! The words of every verdict, place and lever.

use analysis::{NotDecided, Verdict, WhyPlace};
use measure::Lever;
use serde_json::json;

pub(crate) const REST: &str = "what was not reached: network, disk, timers, other machines";

pub(super) fn code(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Generator => "generator",
        Verdict::Latency => "latency",
        Verdict::FlushLatency => "flush-latency",
        Verdict::ServerCpu => "server-cpu",
        Verdict::OneAtATime => "one-at-a-time",
        Verdict::ServerWork => "server-work",
        Verdict::SharedCpu => "shared-cpu",
        Verdict::Quota => "quota",
        Verdict::Member(_) => "member",
        Verdict::OtherPrograms => "other-programs",
        Verdict::Slots => "slots",
        Verdict::Held => "held",
        Verdict::FlushShared => "flush-shared",
        Verdict::FlushSerial => "flush-serial",
        Verdict::Untouched => "untouched",
        Verdict::TooManyClients => "too-many-clients",
        Verdict::Several => "several",
        Verdict::NotDecided(why) => match why {
            NotDecided::TooShort { .. } => "not-decided",
            NotDecided::NullResponds => "refused-null-responds",
            NotDecided::OthersBusy { .. } => "refused-others-busy",
            NotDecided::SharesAboveOne { .. } => "refused-shares-above-one",
            NotDecided::Failures { .. } => "refused-failures",
        },
    }
}

/// The sentence of [`Verdict::Generator`] for a system that runs within dyno.
pub(super) const EMBEDDED: &str = "the CPUs hold it back: the database, which runs within dyno, and dyno have {client} of \
    the time for a transaction ({client_low} to {client_high})";

const MEMBER: &str = "`{member}` holds the cluster back: its work has {member_share} of the time ({member_low} to {member_high})[, and \
    {member_at_once} of it can go on at once][; it keeps {member_busy} cores busy][, and no other server of the \
    cluster has more than {others_most}]";

/// The template of a verdict's sentence.
pub(super) fn sentence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Generator => {
            "dyno itself holds it back: its event loops have {client} of the time for a transaction \
             ({client_low} to {client_high})"
        }
        Verdict::Latency => {
            "nothing is full: each client waits for its own answers. Of the {response} of a transaction[, the server's \
             CPU has {server}][, dyno {client}][, flushes {flush}], and {rest} is waiting that dyno does not reach: \
             network, wake-ups, timers, disk"
        }
        Verdict::FlushLatency => {
            "nothing is full: each client waits for its own flush, which has {flush} of the {response} of a \
             transaction ({flush_low} to {flush_high})"
        }
        Verdict::ServerCpu => {
            "the server's CPU holds it back: its work has {server} of the time ({server_low} to {server_high})[, \
             on {cores:core, its only one|cores}][, of which {busy} are busy]"
        }
        Verdict::OneAtATime => {
            "the server does its work one at a time: it has {server} of the time ({server_low} to {server_high}), and \
             {at_once} of it can go on at once[; {busy} of {cores:core|cores} are busy][, {idle} of the machine are \
             idle][, and one core fewer changes the rate by {fewer}]"
        }
        Verdict::ServerWork => {
            "the server's work holds it back[: it has {server} of the time ({server_low} to {server_high})][, with {busy} \
             of {cores:core|cores} busy][: of what a statement works there, {unseen_at_once} can go on at once]. Whether more cores \
             would help is not shown"
        }
        Verdict::SharedCpu => {
            "the CPUs of this machine hold it back, which the server and dyno share: the server's work has {server} of the time \
             ({server_low} to {server_high})[ and keeps {busy} cores busy], dyno {client_busy}"
        }
        Verdict::Quota => {
            "the quota of CPU time that the server has holds it back: its work has {server} of the time ({server_low} to \
             {server_high}), and the quota stopped it {throttled} of the time[; {busy} of {cores:core|cores} are busy]"
        }
        Verdict::Member(_) => MEMBER,
        Verdict::OtherPrograms => {
            "the server's work holds it back ({server} of the time), and other programs have the rest of the cores: \
             {at_once} of it can go on at once"
        }
        Verdict::Slots => {
            "the server lets only so many statements go on at once[, about {slots}], though they only sleep there: it is a \
             limit on its threads, connections or statements, or on those of a proxy before it"
        }
        Verdict::Held => {
            "transactions hold something that others wait for, such as locks: a microsecond inside of a transaction \
             costs {inside} µs of each, one outside {outside} µs"
        }
        Verdict::FlushShared => {
            "flushes to the disk hold it back, one after another[ ({flush} of the time)]; several transactions share \
             each, so more clients ride along"
        }
        Verdict::FlushSerial => {
            "flushes to the disk hold it back, one after another[ ({flush} of the time)], and transactions do not \
             share them"
        }
        Verdict::Untouched => {
            "nothing that dyno can slow down holds it back: {rest} of the time was not touched. It is a timer, a limit on \
             the rate or on how many are let in at once, a full network or another machine"
        }
        Verdict::TooManyClients => "there are too many clients: fewer would be faster",
        Verdict::Several => {
            "no single place holds it back[: the server's CPU has {server}][, dyno {client}][, flushes {flush}], and {rest} \
             was not reached"
        }
        Verdict::NotDecided(why) => no_verdict(why),
    }
}

fn no_verdict(why: NotDecided) -> &'static str {
    match why {
        NotDecided::TooShort { .. } => {
            "not decided in {seconds} s[; about {more_min} more minutes would do]"
        }
        NotDecided::NullResponds => {
            "not decided: the lever that does nothing seems to respond, so the machine's noise is not what it has to be"
        }
        NotDecided::OthersBusy { .. } => {
            "not decided: other programs keep {others} cores of this machine busy"
        }
        NotDecided::SharesAboveOne { .. } => {
            "not decided: the shares of all places add up to {sum}, which cannot be"
        }
        NotDecided::Failures { .. } => "not decided: {failed} of all transactions failed meanwhile",
    }
}

/// What would help, and by how much at most.
pub(super) fn advice(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Generator => Some(
            "20 % less of dyno's work would bring at most {less_client}: give it more event loops or cores",
        ),
        Verdict::Latency | Verdict::FlushLatency => Some("One client more brings about {one_more}"),
        Verdict::ServerCpu => Some(
            "20 % less of its work would bring at most {less_work}[, one core more at most {core_more}][, one client \
             more {one_more}]",
        ),
        Verdict::SharedCpu => Some(
            "20 % less of the server's work would bring at most {less_work}; dyno on a machine of its own tells more",
        ),
        Verdict::OneAtATime => Some(
            "It takes less work or a faster core: 20 % less would bring at most {less_work}; more cores do not help",
        ),
        Verdict::ServerWork | Verdict::OtherPrograms | Verdict::Quota => {
            Some("20 % less of its work would bring at most {less_work}")
        }
        Verdict::Member(_) => Some(
            "20 % less of its work would bring at most {member_less}: give the other servers a part of it, or make it faster",
        ),
        Verdict::FlushShared => Some("One client more brings about {one_more}"),
        _ => None,
    }
}

/// A place's name for programs and for people.
pub(crate) fn place(place: WhyPlace) -> (&'static str, &'static str) {
    match place {
        WhyPlace::Outside => ("outside", "outside of transactions"),
        WhyPlace::Inside => ("inside", "inside of transactions"),
        WhyPlace::ClientCpu => ("client_cpu", "dyno's CPU"),
        WhyPlace::ServerCpu => ("server_cpu", "the server's CPU"),
        WhyPlace::Flush => ("flush", "flushes to the disk"),
        WhyPlace::Asleep => ("asleep", "asleep in the server"),
        WhyPlace::Member(_) => ("member", "one server's CPU"),
    }
}

pub(super) fn lever_of(place: WhyPlace) -> Lever {
    match place {
        WhyPlace::Outside => Lever::Before,
        WhyPlace::Inside => Lever::Inside,
        WhyPlace::ClientCpu => Lever::ClientCpu,
        WhyPlace::ServerCpu => Lever::ServerCpu,
        WhyPlace::Flush => Lever::Flush,
        WhyPlace::Asleep => Lever::ServerSleep,
        WhyPlace::Member(number) => Lever::Member(number),
    }
}

/// The member that a lever slows down alone.
pub(super) fn member_of(lever: Lever) -> Option<u8> {
    match lever {
        Lever::Member(number) => Some(number),
        _ => None,
    }
}

/// A lever's name for programs: that of the record, and `member` for each of them.
pub(super) fn lever_code(lever: Lever) -> serde_json::Value {
    match lever {
        Lever::Member(_) => json!("member"),
        _ => json!(lever),
    }
}

pub(super) fn lever(lever: Lever) -> &'static str {
    match lever {
        Lever::Null => "nothing (the check)",
        Lever::Before => "a wait before a transaction",
        Lever::Inside => "a wait inside of a transaction",
        Lever::ClientCpu => "work in dyno",
        Lever::ServerCpu => "work in the server",
        Lever::Flush => "a wait before a flush",
        Lever::Clients => "fewer clients",
        Lever::Cores => "one core fewer",
        Lever::Toggle => "the toggle",
        Lever::ServerSleep => "a statement that sleeps in the server",
        Lever::Member(_) => "work in one server",
    }
}
