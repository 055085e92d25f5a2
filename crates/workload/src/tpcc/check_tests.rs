//! Each condition finds the row that breaks it, and a consistent database breaks none.

use measure::{Condition, ConditionResult};

use crate::Workload;
use crate::testing::{TestSystem, message, workload};

/// A statement that breaks conditions, one that repairs them, and the conditions broken in between.
struct Violation {
    by: &'static str,
    mended_by: &'static str,
    broken: &'static [usize],
    told: &'static str,
}

/// One for each condition, breaking as few others as possible.
const BREAKS: [Violation; 12] = [
    Violation {
        by: "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1",
        mended_by: "UPDATE warehouse SET w_ytd = w_ytd - 1 WHERE w_id = 1",
        broken: &[1, 8],
        told: "warehouse 1, W_YTD is 300001.00, the sum of D_YTD 300000.00",
    },
    Violation {
        by: "UPDATE district SET d_next_o_id = 3002 WHERE d_w_id = 1 AND d_id = 4",
        mended_by: "UPDATE district SET d_next_o_id = 3001 WHERE d_w_id = 1 AND d_id = 4",
        broken: &[2],
        told: "warehouse 1, district 4: D_NEXT_O_ID is 3002, but the last O_ID is 3000 and the last \
               NO_O_ID 3000",
    },
    Violation {
        by: "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = 2500",
        mended_by: "INSERT INTO new_order VALUES (2500, 2, 1)",
        broken: &[3, 5, 11],
        told: "warehouse 1, district 2: NO_O_ID goes from 2101 to 3000 in 899 rows",
    },
    Violation {
        by: "UPDATE order_line SET ol_number = 99, ol_o_id = 4000 \
             WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 3000 AND ol_number = 1; \
             UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 \
             WHERE o_w_id = 1 AND o_d_id = 3 AND o_id IN (3000, 2999)",
        mended_by: "UPDATE order_line SET ol_number = 1, ol_o_id = 3000 \
             WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 4000; \
             UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 \
             WHERE o_w_id = 1 AND o_d_id = 3 AND o_id IN (3000, 2999)",
        broken: &[4, 6],
        told: "but ORDER-LINE has",
    },
    Violation {
        by: "UPDATE orders SET o_carrier_id = 5 WHERE o_w_id = 1 AND o_d_id = 9 AND o_id = 2101",
        mended_by: "UPDATE orders SET o_carrier_id = NULL \
                    WHERE o_w_id = 1 AND o_d_id = 9 AND o_id = 2101",
        broken: &[5, 7],
        told: "warehouse 1, district 9: order 2101 has a carrier, but is in NEW-ORDER",
    },
    Violation {
        by: "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 7 THEN 1 ELSE -1 END \
             WHERE o_w_id = 1 AND o_d_id = 1 AND o_id IN (7, 8)",
        mended_by: "UPDATE orders SET o_ol_cnt = o_ol_cnt - CASE o_id WHEN 7 THEN 1 ELSE -1 END \
             WHERE o_w_id = 1 AND o_d_id = 1 AND o_id IN (7, 8)",
        broken: &[6],
        told: "warehouse 1, district 1: order 7 has O_OL_CNT",
    },
    Violation {
        by: "UPDATE order_line SET ol_delivery_d = NULL \
             WHERE ol_w_id = 1 AND ol_d_id = 5 AND ol_o_id = 12 AND ol_number = 2",
        mended_by: "UPDATE order_line SET ol_delivery_d = '2026-01-01 00:00:00' \
             WHERE ol_w_id = 1 AND ol_d_id = 5 AND ol_o_id = 12 AND ol_number = 2",
        broken: &[7],
        told: "warehouse 1, district 5: order 12 has a carrier, and 1 of",
    },
    Violation {
        by: "UPDATE warehouse SET w_ytd = w_ytd + 2; \
             UPDATE district SET d_ytd = d_ytd + 2 WHERE d_w_id = 1 AND d_id = 10",
        mended_by: "UPDATE warehouse SET w_ytd = w_ytd - 2; \
             UPDATE district SET d_ytd = d_ytd - 2 WHERE d_w_id = 1 AND d_id = 10",
        broken: &[8, 9],
        told: "warehouse 1, W_YTD is 300002.00, the sum of H_AMOUNT 300000.00",
    },
    Violation {
        by: "UPDATE district SET d_ytd = d_ytd + CASE d_id WHEN 1 THEN 3 ELSE -3 END \
             WHERE d_w_id = 1 AND d_id IN (1, 2)",
        mended_by: "UPDATE district SET d_ytd = d_ytd - CASE d_id WHEN 1 THEN 3 ELSE -3 END \
             WHERE d_w_id = 1 AND d_id IN (1, 2)",
        broken: &[9],
        told: "warehouse 1, district 1: D_YTD is 30003.00, the sum of H_AMOUNT 30000.00",
    },
    Violation {
        by: "UPDATE history SET h_c_id = 4000 WHERE h_c_w_id = 1 AND h_c_d_id = 6 AND h_c_id = 77",
        mended_by: "UPDATE history SET h_c_id = 77 \
                    WHERE h_c_w_id = 1 AND h_c_d_id = 6 AND h_c_id = 4000",
        broken: &[10],
        told: "warehouse 1, district 6: customer 77 has C_BALANCE -10.00, not 0.00 - 0.00",
    },
    Violation {
        by: "UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 7 AND c_id = 1",
        mended_by: "UPDATE customer SET c_delivery_cnt = 0 \
                    WHERE c_w_id = 1 AND c_d_id = 7 AND c_id = 1",
        broken: &[11],
        told: "warehouse 1, district 7: 3000 orders less 900 new ones are not 2100 and 1 deliveries",
    },
    Violation {
        by: "UPDATE customer SET c_ytd_payment = 10.01 \
             WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 3000",
        mended_by: "UPDATE customer SET c_ytd_payment = 10 \
                    WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 3000",
        broken: &[12],
        told: "warehouse 1, district 8: customer 3000 has C_BALANCE -10.00 and C_YTD_PAYMENT 10.01, \
               together not 0.00",
    },
];

/// Numbers that are NULL; the message is that of the last condition that each breaks.
const NULLS: [Violation; 5] = [
    Violation {
        by: "UPDATE warehouse SET w_ytd = NULL",
        mended_by: "UPDATE warehouse SET w_ytd = 300000",
        broken: &[1, 8],
        told: "warehouse 1, W_YTD is not there",
    },
    Violation {
        by: "UPDATE orders SET o_ol_cnt = NULL WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 5",
        mended_by: "UPDATE orders SET o_ol_cnt = (SELECT COUNT(*) FROM order_line \
                    WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 5) \
                    WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 5",
        broken: &[4, 6],
        told: "warehouse 1, district 2: order 5 has O_OL_CNT NULL and ",
    },
    Violation {
        by: "UPDATE customer SET c_balance = NULL WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 2",
        mended_by: "UPDATE customer SET c_balance = -10 \
                    WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 2",
        broken: &[10, 12],
        told: "warehouse 1, district 8: customer 2 has C_BALANCE NULL and C_YTD_PAYMENT 10.00",
    },
    Violation {
        by: "UPDATE customer SET c_ytd_payment = NULL WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 2",
        mended_by: "UPDATE customer SET c_ytd_payment = 10 \
                    WHERE c_w_id = 1 AND c_d_id = 8 AND c_id = 2",
        broken: &[12],
        told: "customer 2 has C_BALANCE -10.00 and C_YTD_PAYMENT NULL, together not 0.00",
    },
    Violation {
        by: "UPDATE history SET h_amount = NULL WHERE h_w_id = 1 AND h_d_id = 8 AND h_c_id = 2",
        mended_by: "UPDATE history SET h_amount = 10 WHERE h_w_id = 1 AND h_d_id = 8 AND h_c_id = 2",
        broken: &[8, 9, 10],
        told: "customer 2 has C_BALANCE -10.00, not 0.00 - 0.00",
    },
];

fn broken(conditions: &[Condition]) -> Vec<usize> {
    let is_broken =
        |condition: &&Condition| matches!(condition.verdict, ConditionResult::Broken(_));
    let last = |name: &str| name.rsplit_once('.').unwrap().1.parse().unwrap();
    conditions.iter().filter(is_broken).map(|it| last(&it.name)).collect()
}

#[test]
fn every_condition_finds_the_row_that_breaks_it() {
    let test_system = TestSystem::sqlite();
    let tpcc = workload("tpcc", "");
    tpcc.prepare(&test_system.context()).unwrap();
    assert_eq!(broken(&tpcc.check(&test_system.context()).unwrap()), Vec::<usize>::new());
    for (number, case) in (1..).zip(BREAKS) {
        test_system.run(case.by);
        let conditions = tpcc.check(&test_system.context()).unwrap();
        assert_eq!(broken(&conditions), case.broken, "{}", case.by);
        let told = conditions[number - 1].broken().unwrap();
        assert!(told.contains(case.told), "3.3.2.{number}: {told}");
        test_system.run(case.mended_by);
    }
    for case in NULLS {
        test_system.run(case.by);
        let conditions = tpcc.check(&test_system.context()).unwrap();
        assert_eq!(broken(&conditions), case.broken, "{}", case.by);
        let last = case.broken.last().unwrap();
        let told = conditions[last - 1].broken().unwrap();
        assert!(told.contains(case.told), "3.3.2.{last}: {told}");
        test_system.run(case.mended_by);
    }
    assert_eq!(broken(&tpcc.check(&test_system.context()).unwrap()), Vec::<usize>::new());
    refused_before_a_run(&test_system, tpcc.as_ref());
    runs_and_stays_consistent(&test_system, tpcc.as_ref());
    tells_deliveries_that_find_nothing_apart(&test_system);
    tpcc.cleanup(&test_system.context()).unwrap();
    assert_eq!(
        test_system.integer(
            "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ),
        0
    );
}

/// One district has one new order left, another three; all others have many. Clause 2.7.4.2.
fn tells_deliveries_that_find_nothing_apart(test_system: &TestSystem) {
    test_system.run(
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id < \
         (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 3); \
         DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 7 AND no_o_id < \
         (SELECT MAX(no_o_id) - 2 FROM new_order WHERE no_w_id = 1 AND no_d_id = 7)",
    );
    let deliveries = workload("tpcc", "mix = \"0,0,0,1,0\"");
    let orders = test_system.integer("SELECT COUNT(*) FROM new_order");
    let trial = test_system.trial(deliveries.as_ref(), 1, 5);
    let counts = trial.counts();
    let count = |name: &str| counts.iter().find(|(it, _)| *it == name).unwrap().1;
    assert_eq!((count("delivery"), count("delivery_skipped")), (1, 4));
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM new_order"), orders - 8 * 5 - 1 - 3);
    let rules = deliveries.rules(1);
    let share = rules.shares.iter().find(|share| share.name == "delivery").unwrap();
    assert_eq!(share.operations.len(), 2, "skipped ones are of the mix: {share:?}");
}

/// A run is refused on data that breaks a condition.
fn refused_before_a_run(test_system: &TestSystem, tpcc: &dyn Workload) {
    test_system.run(BREAKS[1].by);
    let told = message(tpcc.verify(&test_system.context()));
    assert!(told.contains("3.3.2.2 (D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)): "), "{told}");
    test_system.run(BREAKS[1].mended_by);
    tpcc.verify(&test_system.context()).unwrap();
}

/// The work of one client, in exact numbers: the same seed always gives the same work.
fn runs_and_stays_consistent(test_system: &TestSystem, tpcc: &dyn Workload) {
    let trial = test_system.trial(tpcc, 1, 460);
    let counts = trial.counts();
    let count = |name: &str| counts.iter().find(|(it, _)| *it == name).unwrap().1;
    // Twenty decks of 23 cards.
    assert_eq!(count("new_order") + count("new_order_rollback"), 200);
    assert_eq!(count("payment"), 200);
    assert_eq!((count("order_status"), count("delivery"), count("stock_level")), (20, 20, 20));
    assert_eq!(broken(&tpcc.check(&test_system.context()).unwrap()), Vec::<usize>::new());
    let committed = count("new_order").cast_signed();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM orders"), 30_000 + committed);
    // A rolled back order leaves no change.
    assert_eq!(test_system.integer("SELECT SUM(d_next_o_id) FROM district"), 30_010 + committed);
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM history"), 30_200);
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM new_order"), 9_000 + committed - 200);
    let ordered = "SELECT SUM(s_order_cnt) FROM stock";
    let lines = "SELECT COUNT(*) FROM orders, order_line WHERE o_id > 3000 AND ol_o_id = o_id \
                 AND ol_d_id = o_d_id AND ol_w_id = o_w_id";
    assert_eq!(test_system.integer(ordered), test_system.integer(lines));
    assert_eq!(
        test_system.integer("SELECT SUM(s_ytd) FROM stock"),
        test_system.integer("SELECT SUM(ol_quantity) FROM order_line WHERE ol_o_id > 3000",)
    );
    assert_eq!(
        test_system.integer("SELECT COUNT(*) FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100"),
        0
    );
}
