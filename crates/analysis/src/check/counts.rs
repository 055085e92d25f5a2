//! The server's own counts beside dyno's.

use measure::{ErrorClass, ErrorKey, sum};

use super::has_lost_connections;
use crate::{Code, Finding, Measured, Value};

/// A statement whose answer dyno did not see may have run or not. The server's count may be higher by one for
/// each transaction that was unanswered at the end, whenever it began, and by all that a lost generator has not reported.
/// It may be lower by one for each that was lost, and for each that the server refused before it ran, such as a write on a
/// read-only server. A client that reconnects sends more than its load, so the check is skipped when connections were lost.
///
/// When the sums agree, more reads may hide missing writes, or the reverse. Missing reads or writes alone are no
/// finding then: a server may count a statement such as SHOW among the others.
pub(super) fn statements(measured: &Measured<'_>) -> Vec<Finding> {
    let Some(counted) = measured.statements.filter(|_| !has_lost_connections(measured)) else {
        return Vec::new();
    };
    let may_not_have_run = |key: &ErrorKey| {
        matches!(key.class, ErrorClass::Timeout | ErrorClass::Connection | ErrorClass::Server)
    };
    let errors = measured.total.errors.iter().filter(|(key, _)| may_not_have_run(key));
    let fewer = sum(errors.map(|(_, counts)| counts.total()));
    let unanswered = sum([measured.edges.unanswered.count(), measured.edges.stuck.since_before]);
    // Sessions whose last answer was not read, where dyno knows how many those are.
    let unsure = measured.transactions.map_or(0, |counts| counts.unsure);
    let unanswered = unanswered.max(unsure);
    let has_lost_generators = measured.generators.iter().any(|part| part.lost.is_some());
    let unseen = -clamp(fewer)..=if has_lost_generators { i64::MAX } else { clamp(unanswered) };
    let (dyno, server) = (counted.by_dyno, counted.by_server);
    let all = difference(server.total(), dyno.total());
    let mut found = Vec::new();
    if !unseen.contains(&all) {
        found.push(all);
    } else {
        let kinds = [difference(server.read, dyno.read), difference(server.write, dyno.write)];
        let [more, less] = [kinds[0].max(kinds[1]), kinds[0].min(kinds[1])];
        if more > *unseen.end() && less < *unseen.start() {
            found.extend([more, less]);
        }
    }
    let finding = |difference: i64| {
        let code = if difference > 0 { Code::OtherStatements } else { Code::FewerStatements };
        Finding::new(code).with("difference", Value::Difference(difference))
    };
    found.into_iter().map(finding).collect()
}

/// Transactions that were not dyno's. Without another client they are those of the server itself, such as autovacuum's and
/// those of the workers of parallel queries, and no finding.
pub(super) fn transactions(measured: &Measured<'_>) -> Option<Finding> {
    let counts = measured.transactions.filter(|_| !has_lost_connections(measured))?;
    let all = counts.difference();
    let most = counts.unsure.saturating_add(counts.routine_max);
    let code = match all {
        ..0 => Code::FewerTransactions,
        _ if counts.others_connected && all > clamp(most) => Code::OtherTransactions,
        _ => return None,
    };
    Some(Finding::new(code).with("difference", Value::Difference(all)))
}

fn clamp(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn difference(server: u64, dyno: u64) -> i64 {
    clamp(server).saturating_sub(clamp(dyno))
}
