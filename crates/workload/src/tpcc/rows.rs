//! The rows of the initial database: clause 4.3.3.1.
//!
//! Each row depends only on the seed and its own place, so that loaders may generate rows in any order, and the same
//! seed gives the same database.

use super::nurand::{Constants, uniform};
use super::schema::Table;
use super::text;
use crate::random::Random;
use crate::row_buffer::RowBuffer;

/// Rows of each kind: clause 1.2.1.
pub(super) const ITEMS: u64 = 100_000;
pub(super) const DISTRICTS: u64 = 10;
pub(super) const CUSTOMERS: u64 = 3_000;
/// Orders of each district, one for each customer.
pub(super) const ORDERS: u64 = 3_000;
/// The first order that is not delivered yet (clause 4.3.3.1): the last 900 are new.
pub(super) const FIRST_NEW_ORDER: u64 = 2_101;
/// In one row of ten, data contains the word for original, or credit is bad.
const ONE_IN: u64 = 10;

#[derive(Clone, Debug)]
pub(super) struct RowGenerator {
    seed: u64,
    constants: Constants,
    /// When the database was loaded, in the system's format of times.
    now: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DistrictKey {
    pub(super) warehouse: u64,
    pub(super) district: u64,
}

impl RowGenerator {
    pub(super) fn new(seed: u64, now: String) -> Self {
        Self { seed, constants: Constants::of_load(seed), now }
    }

    fn random(&self, table: Table, part: [u64; 3]) -> Random {
        let [a, b, c] = part;
        Random::of_part(self.seed, &[table as u64, a, b, c])
    }

    /// Whether row `number`, from 1, is the selected one of its ten: exactly a tenth of all rows, selected at random.
    fn is_chosen(&self, table: Table, part: [u64; 2], number: u64) -> bool {
        let ten = (number - 1) / ONE_IN;
        let mut random = Random::of_part(self.seed, &[!(table as u64), part[0], part[1], ten]);
        random.below(ONE_IN) == (number - 1) % ONE_IN
    }

    pub(super) fn item(&self, out: &mut RowBuffer, item: u64) {
        let mut random = self.random(Table::Item, [item, 0, 0]);
        let is_original = self.is_chosen(Table::Item, [0, 0], item);
        out.int(item.cast_signed());
        out.int(uniform(&mut random, 1, 10_000));
        out.written(|name| text::push_alphanumeric(name, &mut random, 14, 24));
        out.cents(uniform(&mut random, 100, 10_000));
        out.written(|data| text::push_data(data, &mut random, is_original));
    }

    pub(super) fn warehouse(&self, out: &mut RowBuffer, warehouse: u64) {
        let mut random = self.random(Table::Warehouse, [warehouse, 0, 0]);
        out.int(warehouse.cast_signed());
        out.written(|name| text::push_alphanumeric(name, &mut random, 6, 10));
        address(out, &mut random);
        out.ten_thousandths(uniform(&mut random, 0, 2_000));
        out.cents(30_000_000);
    }

    pub(super) fn district(&self, out: &mut RowBuffer, at: DistrictKey) {
        let mut random = self.random(Table::District, [at.warehouse, at.district, 0]);
        out.int(at.district.cast_signed());
        out.int(at.warehouse.cast_signed());
        out.written(|name| text::push_alphanumeric(name, &mut random, 6, 10));
        address(out, &mut random);
        out.ten_thousandths(uniform(&mut random, 0, 2_000));
        out.cents(3_000_000);
        out.int(ORDERS.cast_signed() + 1);
    }

    pub(super) fn customer(&self, out: &mut RowBuffer, at: DistrictKey, customer: u64) {
        let DistrictKey { warehouse, district } = at;
        let mut random = self.random(Table::Customer, [warehouse, district, customer]);
        let has_bad_credit = self.is_chosen(Table::Customer, [warehouse, district], customer);
        // The first thousand contain every last name once.
        let name =
            if customer <= 1_000 { customer - 1 } else { self.constants.last_name(&mut random) };
        out.int(customer.cast_signed());
        out.int(district.cast_signed());
        out.int(warehouse.cast_signed());
        out.written(|first| text::push_alphanumeric(first, &mut random, 8, 16));
        out.text("OE");
        out.written(|last| text::push_last_name(last, name));
        address(out, &mut random);
        out.written(|phone| text::push_digits(phone, &mut random, 16));
        out.text(&self.now);
        out.text(if has_bad_credit { "BC" } else { "GC" });
        out.cents(5_000_000);
        out.ten_thousandths(uniform(&mut random, 0, 5_000));
        out.cents(-1_000);
        out.cents(1_000);
        out.int(1);
        out.int(0);
        out.written(|data| text::push_alphanumeric(data, &mut random, 300, 500));
    }

    pub(super) fn history(&self, out: &mut RowBuffer, at: DistrictKey, customer: u64) {
        let DistrictKey { warehouse, district } = at;
        let mut random = self.random(Table::History, [warehouse, district, customer]);
        out.int(customer.cast_signed());
        for _of_customer_and_of_payment in 0..2 {
            out.int(district.cast_signed());
            out.int(warehouse.cast_signed());
        }
        out.text(&self.now);
        out.cents(1_000);
        out.written(|data| text::push_alphanumeric(data, &mut random, 12, 24));
    }

    pub(super) fn stock(&self, out: &mut RowBuffer, warehouse: u64, item: u64) {
        let mut random = self.random(Table::Stock, [warehouse, item, 0]);
        let is_original = self.is_chosen(Table::Stock, [warehouse, 0], item);
        out.int(item.cast_signed());
        out.int(warehouse.cast_signed());
        out.int(uniform(&mut random, 10, 100));
        for _district in 0..DISTRICTS {
            out.written(|info| text::push_letters(info, &mut random, 24));
        }
        (0..3).for_each(|_count| out.int(0));
        out.written(|data| text::push_data(data, &mut random, is_original));
    }

    /// The customer of each order of a district: the customers in random order, one order each.
    pub(super) fn customers_of_orders(&self, at: DistrictKey) -> Vec<u64> {
        let mut random = self.random(Table::Orders, [at.warehouse, at.district, 0]);
        let mut customers: Vec<u64> = (1..=CUSTOMERS).collect();
        for last in (1..customers.len()).rev() {
            customers.swap(last, random.below(last as u64 + 1) as usize);
        }
        customers
    }

    pub(super) fn lines(&self, at: DistrictKey, order: u64) -> u64 {
        5 + self.random(Table::OrderLine, [at.warehouse, at.district, order]).below(11)
    }

    pub(super) fn order(&self, out: &mut RowBuffer, at: DistrictKey, order: u64, customer: u64) {
        let mut random = self.random(Table::Orders, [at.warehouse, at.district, order]);
        out.int(order.cast_signed());
        out.int(at.district.cast_signed());
        out.int(at.warehouse.cast_signed());
        out.int(customer.cast_signed());
        out.text(&self.now);
        if order < FIRST_NEW_ORDER {
            out.int(uniform(&mut random, 1, 10));
        } else {
            out.null();
        }
        out.int(self.lines(at, order).cast_signed());
        out.int(1);
    }

    pub(super) fn new_order(out: &mut RowBuffer, at: DistrictKey, order: u64) {
        out.int(order.cast_signed());
        out.int(at.district.cast_signed());
        out.int(at.warehouse.cast_signed());
    }

    pub(super) fn order_lines(&self, out: &mut RowBuffer, at: DistrictKey, order: u64) {
        let mut random = self.random(Table::OrderLine, [at.warehouse, at.district, order]);
        // The number of lines is the stream's first draw, as in `lines`.
        let lines = 5 + random.below(11);
        let is_delivered = order < FIRST_NEW_ORDER;
        for number in 1..=lines {
            out.int(order.cast_signed());
            out.int(at.district.cast_signed());
            out.int(at.warehouse.cast_signed());
            out.int(number.cast_signed());
            out.int(uniform(&mut random, 1, ITEMS.cast_signed()));
            out.int(at.warehouse.cast_signed());
            if is_delivered {
                out.text(&self.now);
            } else {
                out.null();
            }
            out.int(5);
            out.cents(if is_delivered { 0 } else { uniform(&mut random, 1, 999_999) });
            out.written(|info| text::push_letters(info, &mut random, 24));
        }
    }
}

/// Two streets, a city, a state and a zip code.
fn address(out: &mut RowBuffer, random: &mut Random) {
    for _street_1_street_2_and_city in 0..3 {
        out.written(|line| text::push_alphanumeric(line, random, 10, 20));
    }
    out.written(|state| text::push_letters(state, random, 2));
    out.written(|zip| text::push_zip(zip, random));
}
