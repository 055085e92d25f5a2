//! When a finding is made: one rule for each code, for the page and for docs/warnings.md.

use analysis::Code;

/// When it is said, and with what bound. In Markdown, with links from docs/.
#[expect(clippy::too_many_lines, reason = "it is one table")]
pub(super) fn rule(code: Code) -> &'static str {
    match code {
        Code::Failed => {
            "the trial could not go on, or no transaction succeeded for half of the window or more"
        }
        Code::DataNotVerified => {
            "before the load, row counts, sampled values or conditions were not what the workload needs, or could not be checked"
        }
        Code::Crashed => "a server that dyno started for the trial ended during it",
        Code::Cut => "the record ends before the trial does",
        Code::Damaged => {
            "a file of the trial cannot be read to its end; figures are of what came before"
        }
        Code::Interrupted => "the user ended the trial",
        Code::NothingMeasured => "no transaction succeeded in the measured time",
        Code::Outages => {
            "for some time no transaction succeeded although one waited, or clients had lost their connections ([outages](statistics/failures.md#time-outs-and-outages))"
        }
        Code::MemberExited => {
            "a server of a cluster ended before the end of the window, and the others went on"
        }
        Code::ConnectionsLost => "connections broke during transactions while others were answered",
        Code::IdleConnectionsClosed => {
            "the server closed connections of clients that paused, and they connected again"
        }
        Code::ClientsLeft => "a client ended before the load did",
        Code::EveryClientLeft => "all clients ended before the load did",
        Code::Failures => "a client gave up a transaction",
        Code::Retries => "a transaction was tried again",
        Code::ConditionBroken => "a condition on the data does not hold after the load",
        Code::AnswerWrong => "the answer to a query is not the known one ([TPC-H](tpch.md))",
        Code::AnswersDiffer => "the answer to a query is not that of another system of the run",
        Code::StuckClients => {
            "a client had no answer since before the window, or for half of it and a second at least, when the drain was over"
        }
        Code::Unfinished => {
            "transactions had no answer ten seconds after the window, or more than 1 of 1,000 were never sent ([bounds](statistics/load.md#what-was-never-answered))"
        }
        Code::TrialsMissing => "the run ended before all planned trials were done",
        Code::PlanDamaged => {
            "the record's copy of the plan cannot be read as it was written; no figure comes from it"
        }
        Code::ClientSaturated => {
            "dyno used 90 % or more of the hardware threads that it could use, or one of its event loops ran for 90 % of the window"
        }
        Code::ClientSaturatedBriefly => "an event loop ran for 90 % of a second or more",
        Code::GeneratorStalled => {
            "a thread of dyno woke 50 ms late or more ([the generator watches itself](statistics/generator.md#the-generator-watches-itself))"
        }
        Code::GeneratorStalledLong => {
            "a thread of dyno woke late by 10 % of the window or more in all"
        }
        Code::GeneratorLost => {
            "a generator's connection ended, or it was silent for five seconds, before the end of the load"
        }
        Code::GeneratorClock => {
            "the clock of its host is not known to a tenth of an interval, or moved by as much"
        }
        Code::GeneratorsUneven => {
            "clients of one generator (event loops, in an open loop) got through 10 % more or less than the mean of all, beyond chance"
        }
        Code::RateMissed => {
            "in an open loop, the number in the system grows, or the achieved rate is more than 10 % below the offered one, by more than chance ([the model of load](statistics/load.md#the-model-of-load))"
        }
        Code::GeneratorLate => {
            "in an open loop, one in a hundred transactions started more than 2 ms late although a client was free"
        }
        Code::LittlesLaw => {
            "throughput and latency account for the number of clients with 5 % or more missing or over ([Little's law](statistics/failures.md#littles-law))"
        }
        Code::MixMissed => {
            "a type's share is below the minimum by more than chance explains ([TPC-C](tpcc.md))"
        }
        Code::LatencyLimitMissed => {
            "a percentile of response times is above what the workload allows, as with [TPC-C's waits](tpcc.md#operations-and-figures)"
        }
        Code::WorkloadRemark => {
            "the load leaves the definition of its workload, such as TPC-C with warehouses that no client uses"
        }
        Code::SystemRemark => {
            "settings, or what the server did in the measured time, have a part in the figures, such as durability that is off, a checkpoint, data larger than the cache, or first executions that are planned anew ([watching](watching.md))"
        }
        Code::Unfair => {
            "the standard deviation over clients is above 10 % of the mean, beyond chance ([fairness](statistics/failures.md#fairness))"
        }
        Code::Trend => {
            "throughput drifts by more than 10 % over the window, and noise does not explain it ([steadiness](statistics/steadiness.md))"
        }
        Code::LatencyTrend => {
            "the mean latency drifts by more than 10 %, and neither a drift of throughput nor a growing backlog explains it"
        }
        Code::Step => {
            "throughput changes from one level to another by more than 10 % ([steadiness](statistics/steadiness.md))"
        }
        Code::WarmUpShort => "the same in the first third of the window",
        Code::Unsteady => "throughput of the intervals varies by more than 20 %, beyond chance",
        Code::NeverSteady => {
            "the warm-up was to last until the load is steady, and reached its limit"
        }
        Code::PrecisionMissed => {
            "the measuring was to last until a figure is precise, and reached its limit"
        }
        Code::OtherStatements => {
            "the server counted more statements than dyno, by more than those that were unanswered or lost ([the server's own counters](statistics/failures.md#the-servers-own-counters))"
        }
        Code::FewerStatements => {
            "the server counted fewer statements than dyno, by more than those that were refused or lost"
        }
        Code::OtherTransactions => {
            "the server counted more transactions than dyno's sessions and its own routine had, while another client was connected"
        }
        Code::FewerTransactions => "the server counted fewer transactions than dyno's sessions had",
        Code::CensoredPercentiles => {
            "a percentile lies among transactions that timed out or were never answered"
        }
        Code::TooFewValues => {
            "a percentile of all transactions, up to p99, has fewer than ten values above it"
        }
        Code::FewValues => {
            "the same of a higher percentile, of a rarer operation, or of a set of queries"
        }
        Code::ShortWindow => "the measured time was below a second",
        Code::CpuStolen => "a hypervisor took 2 % of a host's CPU or more",
        Code::CpuUsedByOthers => {
            "programs that are neither dyno nor its servers used 10 % of a host's CPU or more"
        }
        Code::LoadUneven => "one of several servers has half as much again as its even share",
        Code::MemberNotWatched => {
            "a server of the cluster has load and is not watched, although others are"
        }
        Code::ServerGaps => "a server did not always answer when its metrics were read",
        Code::ServerSilent => "a server had never answered when the trial ended",
        Code::ServerAway => {
            "one of several servers that share a load did not answer at the end, so that others had its load"
        }
        Code::ServerRestarted => "a watched server began anew within the window",
        Code::ClockRateVaries => "the CPU's governor is another than `performance`",
        Code::MachineBusy => {
            "the load average before the run was above half of the hardware threads"
        }
        Code::BaselineDiffers => {
            "with [`noise = true`](statistics/variants.md), the baseline that every round measured twice is faster or slower than itself"
        }
        Code::FirstWindows => {
            "with [windows](statistics/variants.md#windows), those after the starts of a variant differ from the later ones in all rounds alike, and move the figure of a round by the least difference that matters or more"
        }
    }
}

/// The same without the marks of Markdown.
pub(super) fn plain(code: Code) -> String {
    let mut out = String::new();
    let mut rest = rule(code);
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, after)) = link.split_once("](") else { break };
        out.extend([before, name]);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/warnings.md.
    fn table() -> String {
        let mut out = "| code | what is told | makes it | when |\n|---|---|---|---|\n".to_owned();
        let mut before = "";
        for code in Code::ALL {
            let (name, severity) = (code.name(), code.severity().name());
            // Two severities of one code follow one another, and share its mark.
            let mark =
                if name == before { String::new() } else { format!("<a id=\"{name}\"></a>") };
            let told = super::super::headline(code);
            out.push_str(&format!("| {mark}`{name}` | {told} | {severity} | {} |\n", rule(code)));
            before = name;
        }
        out
    }

    #[test]
    fn a_rule_on_the_page_has_no_marks() {
        assert!(Code::ALL.iter().all(|code| !plain(*code).contains(['[', ']', '`'])));
        assert_eq!(plain(Code::ClockRateVaries), "the CPU's governor is another than performance");
        assert!(plain(Code::BaselineDiffers).starts_with("with noise = true, the baseline"));
    }

    /// `DYNO_WRITE_DOCUMENTS=1` writes the table anew.
    #[test]
    fn the_book_has_the_rule_of_every_finding() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/warnings.md");
        let text = std::fs::read_to_string(path).unwrap();
        let from = text.find("| code |").unwrap();
        let length = text[from..].find("\n\n").map_or(text.len() - from, |at| at + 1);
        let table = table();
        if std::env::var_os("DYNO_WRITE_DOCUMENTS").is_some() {
            let new = format!("{}{table}{}", &text[..from], &text[from + length..]);
            std::fs::write(path, new).unwrap();
            return;
        }
        assert_eq!(&text[from..from + length], table, "write it anew");
    }
}
