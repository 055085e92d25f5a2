//! The score, the mix and the limits of TPC-C, and remarks on loads that leave its clauses.

use driver::Isolation;
use measure::{LatencyLimit, OperationId, Rules, Score, Share};

use super::deck::Kind;
use super::load::{ROLLED_BACK, SKIPPED, operation};
use super::settings::Settings;

/// The highest rate of New-Orders per minute and warehouse with the waits of clause 5.2.5: ten terminals, 18 s of
/// keying and 12 s of thinking, and the rest of the mix (clause 4.2.2, comment 1).
const NEW_ORDERS_PER_WAREHOUSE: f64 = 12.86;
/// The percentile of response times that is limited (clause 5.2.5.3).
const LIMITED_PERCENTILE: f64 = 90.0;
const SECOND_NS: u64 = 1_000_000_000;

/// tpmC, the mix of clause 5.2.3, the limits of clause 5.2.5.3, and remarks on a load of `clients` clients. The limits
/// hold for terminals that wait, like the highest possible tpmC.
pub(super) fn rules(settings: &Settings, clients: usize) -> Rules {
    let tpmc = Score {
        name: "tpmC".to_owned(),
        meaning: "New-Order transactions per minute, those rolled back by intent included; no TPC result, \
                  and not comparable with one"
            .to_owned(),
        operations: all_of(Kind::NewOrder),
        period_s: 60,
        formula: measure::Formula::Rate,
        most: settings.waits.then_some(NEW_ORDERS_PER_WAREHOUSE * settings.warehouses as f64),
    };
    let share = |kind: Kind| Share {
        name: kind.name().to_owned(),
        operations: all_of(kind),
        least_percent: kind.least_percent().unwrap_or(0.0),
    };
    let limit = |kind: Kind| LatencyLimit {
        name: kind.name().to_owned(),
        operations: all_of(kind),
        percentile: LIMITED_PERCENTILE,
        most_ns: response_time_max_s(kind) * SECOND_NS,
    };
    let limits = Kind::ALL.into_iter().filter(|_| settings.waits).map(limit);
    Rules {
        scores: vec![tpmc],
        shares: Kind::ALL.into_iter().map(share).collect(),
        has_waits: settings.waits,
        latency_limits: limits.collect(),
        remarks: [unused_warehouses(settings, clients), low_isolation(settings)]
            .into_iter()
            .flatten()
            .collect(),
        ..Rules::default()
    }
}

/// All operations of a type: rolled back and skipped transactions are of their type too.
fn all_of(kind: Kind) -> Vec<OperationId> {
    match kind {
        Kind::NewOrder => vec![operation(kind), ROLLED_BACK],
        Kind::Delivery => vec![operation(kind), SKIPPED],
        Kind::Payment | Kind::OrderStatus | Kind::StockLevel => vec![operation(kind)],
    }
}

/// Clause 5.2.5.3, s. A Delivery runs at once here, so that the limit is the one of a deferred execution (clause
/// 2.7.2.3), not of the terminal's answer.
fn response_time_max_s(kind: Kind) -> u64 {
    match kind {
        Kind::NewOrder | Kind::Payment | Kind::OrderStatus => 5,
        Kind::StockLevel => 20,
        Kind::Delivery => 80,
    }
}

/// With fewer clients than warehouses, some warehouses are no client's home (clause 4.2.2 asks for ten terminals each).
fn unused_warehouses(settings: &Settings, clients: usize) -> Option<String> {
    let unused = settings.warehouses.checked_sub(clients as u64).filter(|unused| *unused > 0)?;
    settings.home_warehouse.then(|| {
        format!(
            "no client has its home in {unused} of {0} warehouses, so they are hardly used: offer {0} clients or \
             more, or say home_warehouse = false",
            settings.warehouses
        )
    })
}

/// Clause 3.4 allows New-Order, Payment, Delivery and Order-Status no dirty, non-repeatable or phantom reads of each
/// other.
fn low_isolation(settings: &Settings) -> Option<String> {
    let level = match settings.isolation? {
        Isolation::ReadUncommitted => "read-uncommitted",
        Isolation::ReadCommitted => "read-committed",
        Isolation::RepeatableRead | Isolation::Serializable => return None,
    };
    Some(format!("isolation {level} is lower than clause 3.4 requires"))
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    fn of(options: &str, clients: usize) -> Rules {
        let options = Options::parse(options).unwrap();
        rules(&Settings::read(&mut options.reader()), clients)
    }

    #[test]
    fn fewer_clients_than_warehouses_get_a_remark_unless_they_have_no_home() {
        assert_eq!(of("warehouses = 10", 10).remarks, [""; 0]);
        let remark = "no client has its home in 3 of 10 warehouses, so they are hardly used: offer 10 clients \
                      or more, or say home_warehouse = false";
        assert_eq!(of("warehouses = 10", 7).remarks, [remark]);
        assert_eq!(of("warehouses = 10\nhome_warehouse = false", 7).remarks, [""; 0]);
    }

    #[test]
    fn an_isolation_level_below_clause_3_4_gets_a_remark() {
        let remark = "isolation read-committed is lower than clause 3.4 requires";
        assert_eq!(of("isolation = \"read-committed\"", 1).remarks, [remark]);
        for level in ["", "isolation = \"repeatable-read\"", "isolation = \"serializable\""] {
            assert_eq!(of(level, 1).remarks, [""; 0], "{level}");
        }
    }

    #[test]
    fn response_times_are_limited_for_terminals_that_wait() {
        assert_eq!(of("", 1).latency_limits, []);
        let limits = of("waits = true", 1).latency_limits;
        let limits: Vec<_> =
            limits.iter().map(|it| (it.name.as_str(), it.most_ns / SECOND_NS)).collect();
        let wanted = [
            ("new_order", 5),
            ("payment", 5),
            ("order_status", 5),
            ("delivery", 80),
            ("stock_level", 20),
        ];
        assert_eq!(limits, wanted);
    }
}
