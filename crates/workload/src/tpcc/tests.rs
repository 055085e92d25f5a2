//! The population of clause 4.3, options, and what stands in the way.

use std::path::Path;

use super::buffer::RowBuffer;
use super::fill::{Piece, Sink, stages};
use super::rows::{ITEMS, Place as District, RowMaker};
use super::schema::Table;
use crate::testing::{Place, message, try_workload, workload};
use measure::Failure;

/// Counts the rows of one table.
struct Counter {
    columns: usize,
    rows: usize,
}

impl Sink for Counter {
    async fn take(&mut self, rows: &RowBuffer) -> Result<(), Failure> {
        for row in rows.rows(self.columns) {
            assert_eq!(row.count(), self.columns);
            self.rows += 1;
        }
        Ok(())
    }
}

fn made(piece: Piece) -> Vec<(Table, usize)> {
    let maker = RowMaker::new(42, "2026-01-01 00:00:00".to_owned());
    let count = |table: &Table| {
        let mut counter = Counter { columns: table.column_names().len(), rows: 0 };
        super::csv::at_once(piece.make(*table, &maker, &mut counter)).unwrap();
        (*table, counter.rows)
    };
    piece.tables().iter().map(count).collect()
}

#[test]
fn a_database_has_the_cardinality_of_clause_1_2_1() {
    let district = District { warehouse: 1, district: 3 };
    assert_eq!(made(Piece::Warehouse(1)), [(Table::Warehouse, 1), (Table::District, 10)]);
    let customers = [(Table::Customer, 3_000), (Table::History, 3_000)];
    assert_eq!(made(Piece::Customers(district)), customers);
    let orders = made(Piece::Orders(district));
    assert_eq!(orders[..2], [(Table::Orders, 3_000), (Table::NewOrder, 900)]);
    assert!((29_000..31_000).contains(&orders[2].1), "{orders:?}");
    let [first, second, third] = stages(3);
    let count =
        |pieces: &[Piece], is: fn(&Piece) -> bool| pieces.iter().filter(|it| is(it)).count();
    assert_eq!(count(&first, |it| matches!(it, Piece::Warehouse(_))), 3);
    assert_eq!(count(&second, |it| matches!(it, Piece::Customers(_))), 30);
    assert_eq!(count(&third, |it| matches!(it, Piece::Orders(_))), 30);
    let items = count(&first, |it| matches!(it, Piece::Items(_)));
    let stocks = count(&second, |it| matches!(it, Piece::Stock(..)));
    assert_eq!((items as u64 * 20_000, stocks), (ITEMS, 3 * items));
}

/// Texts of one row, as CSV.
fn line(columns: usize, make: impl FnOnce(&mut RowBuffer)) -> Vec<String> {
    let mut buffer = RowBuffer::default();
    make(&mut buffer);
    assert_eq!(buffer.rows(columns).map(Iterator::count).collect::<Vec<_>>(), [columns]);
    let mut out = Vec::new();
    buffer.append_csv(&mut out, columns);
    String::from_utf8(out).unwrap().trim_end().split(',').map(str::to_owned).collect()
}

#[test]
fn one_row_in_ten_is_original_and_one_customer_in_ten_has_bad_credit() {
    let maker = RowMaker::new(42, "now".to_owned());
    let items =
        (1..=2_000).filter(|item| line(5, |out| maker.item(out, *item))[4].contains("ORIGINAL"));
    assert_eq!(items.count(), 200);
    let stocks = (1..=2_000)
        .filter(|item| line(17, |out| maker.stock(out, 7, *item))[16].contains("ORIGINAL"));
    assert_eq!(stocks.count(), 200);
    let place = District { warehouse: 2, district: 9 };
    let bad = (1..=3_000)
        .filter(|customer| line(21, |out| maker.customer(out, place, *customer))[13] == "BC");
    assert_eq!(bad.count(), 300);
}

#[test]
fn orders_are_placed_by_every_customer_once_in_random_order() {
    let maker = RowMaker::new(42, "now".to_owned());
    let of = |district| maker.customers_of_orders(District { warehouse: 1, district });
    let mut first = of(1);
    assert_ne!(first, of(2));
    assert_ne!(first[..5], [1, 2, 3, 4, 5]);
    first.sort_unstable();
    assert_eq!(first, (1..=3_000).collect::<Vec<u64>>());
}

#[test]
fn rows_are_as_clause_4_3_3_1_has_them() {
    let maker = RowMaker::new(42, "2026-01-01 00:00:00".to_owned());
    let place = District { warehouse: 3, district: 4 };
    let warehouse = line(9, |out| maker.warehouse(out, 3));
    assert_eq!((warehouse[0].as_str(), warehouse[8].as_str()), ("3", "300000.00"));
    assert!(warehouse[6].ends_with("11111") && warehouse[6].len() == 9);
    let district = line(11, |out| maker.district(out, place));
    assert_eq!((district[9].as_str(), district[10].as_str()), ("30000.00", "3001"));
    let first = line(21, |out| maker.customer(out, place, 1));
    assert_eq!(first[4..6], ["OE", "BARBARBAR"]);
    assert_eq!(first[16..20], ["-10.00", "10.00", "1", "0"]);
    assert!((300..=500).contains(&first[20].len()));
    let last = line(21, |out| maker.customer(out, place, 1_000));
    assert_eq!(last[5], "EINGEINGEING");
    let delivered = line(8, |out| maker.order(out, place, 2_100, 9));
    let new = line(8, |out| maker.order(out, place, 2_101, 9));
    assert!(delivered[5].parse::<u8>().is_ok() && new[5] == "\\N");
    let lines = new[6].parse::<usize>().unwrap();
    let of_new = line(10 * lines, |out| maker.order_lines(out, place, 2_101));
    assert_eq!((of_new[6].as_str(), of_new[7].as_str()), ("\\N", "5"));
    let lines = delivered[6].parse::<usize>().unwrap();
    let of_old = line(10 * lines, |out| maker.order_lines(out, place, 2_100));
    assert_eq!((of_old[6].as_str(), of_old[8].as_str()), ("2026-01-01 00:00:00", "0.00"));
}

#[test]
fn tables_have_partitions_and_foreign_keys_when_asked() {
    let place = Place::sqlite();
    let told = message(workload("tpcc", "partitions = 4").prepare(&place.site()));
    assert_eq!(told, "partitions: this system has no partitions; leave it out");
    let problems = try_workload("tpcc", "partitions = 4\nforeign_keys = true", Path::new("/"));
    let problems = problems.err().unwrap();
    assert_eq!(problems[0].message, "tables with partitions cannot have foreign keys");
}

#[test]
fn a_mix_is_a_deck_or_five_weights() {
    for good in ["mix = \"deck\"", "mix = \"45,43,4,4,4\""] {
        try_workload("tpcc", good, Path::new("/")).map(drop).unwrap();
    }
    for bad in ["mix = \"45,43\"", "mix = \"0,0,0,0,0\"", "mix = \"pack\""] {
        let problems = try_workload("tpcc", bad, Path::new("/")).err().unwrap();
        assert_eq!(problems[0].message, "`mix` is neither `deck` nor five weights", "{bad}");
    }
}

#[test]
fn tables_that_are_in_the_way_or_no_tpcc_are_told() {
    let place = Place::sqlite();
    place.run("CREATE TABLE stock (s_i_id INT)");
    let tpcc = workload("tpcc", "");
    let told = message(tpcc.prepare(&place.site()));
    insta::assert_snapshot!(told, @"table stock is there already: use `--existing reuse` to run on the data in place, or `--existing replace` to have it dropped and made afresh");
    let place = place.with(plan::Existing::Reuse);
    let told = message(tpcc.prepare(&place.site()));
    insta::assert_snapshot!(told, @"table item, warehouse, district, customer, history, orders, new_order, order_line is missing beside others of TPC-C: have all made afresh with `--existing replace`");
}
