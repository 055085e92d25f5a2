//! The population of clause 4.3, the options, and tables that already exist.

use std::path::Path;

use super::fill::{Batch, ROWS_PER_WAREHOUSE, Sink, stages};
use super::rows::{DistrictKey as District, ITEMS, RowGenerator};
use super::schema::Table;
use crate::row_buffer::RowBuffer;
use crate::testing::{TestSystem, message, try_workload, workload};
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

fn made(batch: Batch) -> Vec<(Table, usize)> {
    let generator = RowGenerator::new(42, "2026-01-01 00:00:00".to_owned());
    let count = |table: &Table| {
        let mut counter = Counter { columns: table.column_names().len(), rows: 0 };
        crate::parallel::at_once(batch.make(*table, &generator, &mut counter)).unwrap();
        (*table, counter.rows)
    };
    batch.tables().iter().map(count).collect()
}

#[test]
fn a_database_has_the_cardinality_of_clause_1_2_1() {
    let district = District { warehouse: 1, district: 3 };
    assert_eq!(made(Batch::Warehouse(1)), [(Table::Warehouse, 1), (Table::District, 10)]);
    let customers = [(Table::Customer, 3_000), (Table::History, 3_000)];
    assert_eq!(made(Batch::Customers(district)), customers);
    let orders = made(Batch::Orders(district));
    assert_eq!(orders[..2], [(Table::Orders, 3_000), (Table::NewOrder, 900)]);
    assert!((29_000..31_000).contains(&orders[2].1), "{orders:?}");
    let [first, second, third] = stages(3);
    let count =
        |batches: &[Batch], is: fn(&Batch) -> bool| batches.iter().filter(|it| is(it)).count();
    assert_eq!(count(&first, |it| matches!(it, Batch::Warehouse(_))), 3);
    assert_eq!(count(&second, |it| matches!(it, Batch::Customers(_))), 30);
    assert_eq!(count(&third, |it| matches!(it, Batch::Orders(_))), 30);
    let items = count(&first, |it| matches!(it, Batch::Items(_)));
    let stocks = count(&second, |it| matches!(it, Batch::Stock(..)));
    assert_eq!((items as u64 * 20_000, stocks), (ITEMS, 3 * items));
}

#[test]
fn progress_expects_the_rows_that_a_warehouse_has() {
    let rows = |batch| made(batch).iter().map(|(_, rows)| *rows as u64).sum::<u64>();
    let district = |district| District { warehouse: 1, district };
    let districts: u64 = (1..=10)
        .map(|it| rows(Batch::Customers(district(it))) + rows(Batch::Orders(district(it))))
        .sum();
    let all = rows(Batch::Warehouse(1)) + districts + ITEMS;
    // Of 30,000 orders with 5 to 15 lines: five standard deviations of their sum are 2,740.
    assert!(all.abs_diff(ROWS_PER_WAREHOUSE) < 2_740, "{all}");
}

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
    let generator = RowGenerator::new(42, "now".to_owned());
    let items = (1..=2_000)
        .filter(|item| line(5, |out| generator.item(out, *item))[4].contains("ORIGINAL"));
    assert_eq!(items.count(), 200);
    let stocks = (1..=2_000)
        .filter(|item| line(17, |out| generator.stock(out, 7, *item))[16].contains("ORIGINAL"));
    assert_eq!(stocks.count(), 200);
    let test_system = District { warehouse: 2, district: 9 };
    let bad = (1..=3_000).filter(|customer| {
        line(21, |out| generator.customer(out, test_system, *customer))[13] == "BC"
    });
    assert_eq!(bad.count(), 300);
}

#[test]
fn orders_are_placed_by_every_customer_once_in_random_order() {
    let generator = RowGenerator::new(42, "now".to_owned());
    let of = |district| generator.customers_of_orders(District { warehouse: 1, district });
    let mut first = of(1);
    assert_ne!(first, of(2));
    assert_ne!(first[..5], [1, 2, 3, 4, 5]);
    first.sort_unstable();
    assert_eq!(first, (1..=3_000).collect::<Vec<u64>>());
}

#[test]
fn rows_follow_clause_4_3_3_1() {
    let generator = RowGenerator::new(42, "2026-01-01 00:00:00".to_owned());
    let test_system = District { warehouse: 3, district: 4 };
    let warehouse = line(9, |out| generator.warehouse(out, 3));
    assert_eq!((warehouse[0].as_str(), warehouse[8].as_str()), ("3", "300000.00"));
    assert!(warehouse[6].ends_with("11111") && warehouse[6].len() == 9);
    let district = line(11, |out| generator.district(out, test_system));
    assert_eq!((district[9].as_str(), district[10].as_str()), ("30000.00", "3001"));
    let first = line(21, |out| generator.customer(out, test_system, 1));
    assert_eq!(first[4..6], ["OE", "BARBARBAR"]);
    assert_eq!(first[16..20], ["-10.00", "10.00", "1", "0"]);
    assert!((300..=500).contains(&first[20].len()));
    let last = line(21, |out| generator.customer(out, test_system, 1_000));
    assert_eq!(last[5], "EINGEINGEING");
    let delivered = line(8, |out| generator.order(out, test_system, 2_100, 9));
    let new = line(8, |out| generator.order(out, test_system, 2_101, 9));
    assert!(delivered[5].parse::<u8>().is_ok() && new[5] == "\\N");
    let lines = new[6].parse::<usize>().unwrap();
    let of_new = line(10 * lines, |out| generator.order_lines(out, test_system, 2_101));
    assert_eq!((of_new[6].as_str(), of_new[7].as_str()), ("\\N", "5"));
    let lines = delivered[6].parse::<usize>().unwrap();
    let of_old = line(10 * lines, |out| generator.order_lines(out, test_system, 2_100));
    assert_eq!((of_old[6].as_str(), of_old[8].as_str()), ("2026-01-01 00:00:00", "0.00"));
}

#[test]
fn tables_have_partitions_and_foreign_keys_when_asked() {
    let test_system = TestSystem::sqlite();
    let told = message(workload("tpcc", "partitions = 4").prepare(&test_system.context()));
    assert_eq!(told, "partitions: this system has no partitions; leave it out");
    let problems = try_workload("tpcc", "partitions = 4\nforeign_keys = true", Path::new("/"));
    let problems = problems.err().unwrap();
    assert_eq!(problems[0].message, "tables with partitions cannot have foreign keys");
}

#[test]
fn a_mix_is_a_deck_or_five_weights() {
    for good in ["mix = \"deck\"", "mix = \"45,43,4,4,4\"", "mix = \"44.5,43.5,4,4,4\""] {
        try_workload("tpcc", good, Path::new("/")).map(drop).unwrap();
    }
    let neither = "`mix` is neither `deck` nor five weights from 0 to 1000000";
    let nothing = "all weights of `mix` are 0: no transaction would run";
    for (bad, told) in [
        ("mix = \"45,43\"", neither),
        ("mix = \"0,0,0,0,0\"", nothing),
        ("mix = \"pack\"", neither),
        ("mix = \"NaN,1,1,1,1\"", neither),
    ] {
        let problems = try_workload("tpcc", bad, Path::new("/")).err().unwrap();
        assert_eq!(problems[0].message, told, "{bad}");
    }
}

#[test]
fn history_has_a_key_where_servers_want_one_in_every_table() {
    let history = |options: &str, dialect: &driver::Dialect| {
        let options = plan::Options::parse(options).unwrap();
        let settings = super::settings::Settings::read(&mut options.reader());
        super::schema::create_table(Table::History, &settings, dialect).unwrap()
    };
    let (mysql, sqlite) = (&driver::mysql::DIALECT, &driver::sqlite::DIALECT);
    assert!(!history("", mysql).contains("PRIMARY"));
    let partitioned = history("primary_key = true\npartitions = 4", mysql);
    assert!(
        partitioned.contains("h_id BIGINT NOT NULL AUTO_INCREMENT, PRIMARY KEY (h_id, h_w_id))"),
        "{partitioned}"
    );
    let embedded = history("primary_key = true", sqlite);
    assert!(embedded.ends_with("h_id INTEGER PRIMARY KEY AUTOINCREMENT)"), "{embedded}");
}

#[test]
fn keys_follow_the_rows_where_that_is_faster_and_nothing_refers_to_them() {
    let made = |options: &str| {
        let options = plan::Options::parse(options).unwrap();
        let settings = super::settings::Settings::read(&mut options.reader());
        let dialect = &driver::postgres::DIALECT;
        let create = super::schema::create_table(Table::Stock, &settings, dialect).unwrap();
        (create, super::schema::create_indexes(Table::Stock, &settings, dialect))
    };
    let (create, later) = made("");
    assert!(!create.contains("PRIMARY KEY"), "{create}");
    assert_eq!(later, ["ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id)"]);
    let (create, later) = made("foreign_keys = true");
    assert!(create.contains("PRIMARY KEY (s_w_id, s_i_id)"), "{create}");
    assert!(later.is_empty(), "{later:?}");
}

#[test]
fn existing_and_foreign_tables_are_reported() {
    let test_system = TestSystem::sqlite();
    test_system.run("CREATE TABLE stock (s_i_id INT)");
    let tpcc = workload("tpcc", "");
    let told = message(tpcc.prepare(&test_system.context()));
    insta::assert_snapshot!(told, @"table stock has no column s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03 and 11 more (it has s_i_id): it is not TPC-C's; use another database (`--create-database` creates it), or drop the table yourself");
    test_system.run("DROP TABLE stock");
    test_system.run("CREATE TABLE new_order (no_o_id INT, no_d_id INT, no_w_id INT)");
    let told = message(tpcc.prepare(&test_system.context()));
    insta::assert_snapshot!(told, @"table new_order already exists; `--existing reuse` uses what is there, `--existing replace` drops and recreates it");
    let test_system = test_system.with(plan::Existing::Reuse);
    let told = message(tpcc.prepare(&test_system.context()));
    insta::assert_snapshot!(told, @"tables item, warehouse, district, customer, history, stock, orders, order_line are missing beside others of TPC-C; `--existing replace` recreates all");
}
