//! The inputs that the user of a terminal enters: clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and 2.8.1.

use super::deck::Kind;
use super::nurand::{Constants, uniform};
use crate::random::Random;

/// The most lines of an order (clause 2.4.1.3).
pub(super) const LINES_MAX: usize = 15;
/// An item that does not exist, for orders that roll back (clause 2.4.1.5).
const UNUSED_ITEM: i64 = 100_001;
const DISTRICTS: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terminal {
    pub(super) warehouse: i64,
    /// The district of the Stock-Level transactions of a terminal with a home, the same for the whole run (clause
    /// 2.8.1.1).
    pub(super) district: i64,
}

impl Terminal {
    /// Assigns terminals to the warehouses in turn, and then to the districts, so that the first ten of a warehouse
    /// have ten different districts.
    pub(super) fn of_client(index: usize, warehouses: u64) -> Self {
        let index = index as u64;
        let warehouse = index % warehouses + 1;
        let district = index / warehouses % DISTRICTS.cast_unsigned() + 1;
        Self { warehouse: warehouse.cast_signed(), district: district.cast_signed() }
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "one for each client, and nothing is allocated for an event"
)]
#[derive(Clone, Debug)]
pub(super) enum Inputs {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

#[derive(Clone, Debug)]
pub(super) struct NewOrder {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer: i64,
    /// The first `count` lines are used, in the order in which stocks are locked.
    pub(super) lines: [Line; LINES_MAX],
    pub(super) count: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) item: i64,
    pub(super) supply_warehouse: i64,
    pub(super) quantity: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Customer {
    Id(i64),
    LastName(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Payment {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer_warehouse: i64,
    pub(super) customer_district: i64,
    pub(super) customer: Customer,
    pub(super) cents: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OrderStatus {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer: Customer,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) warehouse: i64,
    pub(super) carrier: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StockLevel {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) threshold: i64,
}

#[derive(Clone, Debug)]
pub(super) struct InputGenerator {
    pub(super) constants: Constants,
    pub(super) warehouses: i64,
    pub(super) terminal: Terminal,
    /// Whether the terminal always uses its home warehouse.
    pub(super) is_home: bool,
}

impl InputGenerator {
    #[inline]
    pub(super) fn draw(&self, kind: Kind, random: &mut Random) -> Inputs {
        let warehouse = if self.is_home {
            self.terminal.warehouse
        } else {
            uniform(random, 1, self.warehouses)
        };
        match kind {
            Kind::NewOrder => Inputs::NewOrder(self.new_order(warehouse, random)),
            Kind::Payment => Inputs::Payment(self.payment(warehouse, random)),
            Kind::OrderStatus => Inputs::OrderStatus(OrderStatus {
                warehouse,
                district: uniform(random, 1, DISTRICTS),
                customer: self.customer(random),
            }),
            Kind::Delivery => {
                Inputs::Delivery(Delivery { warehouse, carrier: uniform(random, 1, 10) })
            }
            Kind::StockLevel => Inputs::StockLevel(StockLevel {
                warehouse,
                district: self.stock_level_district(random),
                threshold: uniform(random, 10, 20),
            }),
        }
    }

    /// A terminal with a home has its own district (clause 2.8.1.1); without a home, the district is drawn like the
    /// warehouse, as in go-tpc.
    fn stock_level_district(&self, random: &mut Random) -> i64 {
        if self.is_home { self.terminal.district } else { uniform(random, 1, DISTRICTS) }
    }

    /// Clause 2.4.1.
    fn new_order(&self, warehouse: i64, random: &mut Random) -> NewOrder {
        let district = uniform(random, 1, DISTRICTS);
        let customer = self.constants.customer(random);
        let count = uniform(random, 5, 15) as usize;
        // 2.4.1.4: one order in a hundred has an input error.
        let is_wrong = uniform(random, 1, 100) == 1;
        let mut lines = [Line::default(); LINES_MAX];
        for line in &mut lines[..count] {
            let item = self.constants.item(random);
            // 2.4.1.5.2: one line in a hundred is supplied by another warehouse.
            let is_remote = uniform(random, 1, 100) == 1;
            let supply_warehouse =
                if is_remote { self.other(warehouse, random) } else { warehouse };
            *line = Line { item, supply_warehouse, quantity: uniform(random, 1, 10) };
        }
        if is_wrong {
            // 2.4.1.5.1: the last item is an unused one.
            lines[count - 1].item = UNUSED_ITEM;
        }
        // All clients lock stocks in the same order, so that two orders never wait for each other's stocks. The
        // order of the lines has no meaning.
        lines[..count].sort_unstable_by_key(|line| (line.supply_warehouse, line.item));
        NewOrder { warehouse, district, customer, lines, count }
    }

    /// Clause 2.5.1.
    fn payment(&self, warehouse: i64, random: &mut Random) -> Payment {
        let district = uniform(random, 1, DISTRICTS);
        // 2.5.1.2: 15 % of payments are for a customer of another warehouse.
        let is_remote = uniform(random, 1, 100) > 85 && self.warehouses > 1;
        let (customer_warehouse, customer_district) = if is_remote {
            (self.other(warehouse, random), uniform(random, 1, DISTRICTS))
        } else {
            (warehouse, district)
        };
        let customer = self.customer(random);
        // 2.5.1.3.
        let cents = uniform(random, 100, 500_000);
        Payment { warehouse, district, customer_warehouse, customer_district, customer, cents }
    }

    /// 60 % by last name, 40 % by number (clauses 2.5.1.2 and 2.6.1.2).
    #[inline]
    fn customer(&self, random: &mut Random) -> Customer {
        if uniform(random, 1, 100) <= 60 {
            Customer::LastName(self.constants.last_name(random))
        } else {
            Customer::Id(self.constants.customer(random))
        }
    }

    /// Another warehouse, each equally likely; the same one if there is no other.
    fn other(&self, warehouse: i64, random: &mut Random) -> i64 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let drawn = uniform(random, 1, self.warehouses - 1);
        if drawn >= warehouse { drawn + 1 } else { drawn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_generator(warehouses: u64) -> InputGenerator {
        InputGenerator {
            constants: Constants::of_run(1),
            warehouses: warehouses.cast_signed(),
            terminal: Terminal::of_client(13, warehouses),
            is_home: true,
        }
    }

    /// Whether a share is within four standard deviations of the expected one.
    fn is_near(hits: usize, of: usize, percent: f64) -> bool {
        let (of, share) = (of as f64, percent / 100.0);
        (hits as f64 - of * share).abs() < 4.0 * (of * share * (1.0 - share)).sqrt()
    }

    #[test]
    fn terminals_cover_warehouses_and_districts_evenly() {
        let all: Vec<_> = (0..40).map(|index| Terminal::of_client(index, 4)).collect();
        let mut distinct = all.clone();
        distinct.sort_by_key(|it| (it.warehouse, it.district));
        distinct.dedup();
        assert_eq!(distinct.len(), 40);
        assert_eq!(all[5], Terminal { warehouse: 2, district: 2 });
        assert_eq!(Terminal::of_client(40, 4), all[0]);
    }

    #[test]
    fn new_orders_have_the_specified_share_of_remote_lines_and_invalid_items() {
        let (input_generator, mut random) = (input_generator(4), Random::new(7));
        let (mut lines, mut remote, mut wrong) = (0, 0, 0);
        let mut counts = [0; LINES_MAX + 1];
        for _ in 0..50_000 {
            let Inputs::NewOrder(order) = input_generator.draw(Kind::NewOrder, &mut random) else {
                panic!()
            };
            let used = &order.lines[..order.count];
            counts[order.count] += 1;
            lines += order.count;
            remote += used.iter().filter(|it| it.supply_warehouse != order.warehouse).count();
            wrong += used.iter().filter(|it| it.item == UNUSED_ITEM).count();
            assert!(used.iter().all(|it| (1..=10).contains(&it.quantity)));
            assert!(used.is_sorted_by_key(|it| (it.supply_warehouse, it.item)));
            assert!((1..=3_000).contains(&order.customer) && order.warehouse == 2);
        }
        assert!(is_near(remote, lines, 1.0), "{remote} of {lines}");
        assert!(is_near(wrong, 50_000, 1.0), "{wrong}");
        assert!(
            counts[5..].iter().all(|count| is_near(*count, 50_000, 100.0 / 11.0)),
            "{counts:?}"
        );
    }

    #[test]
    fn payments_have_the_specified_share_of_remote_and_by_last_name() {
        let (input_generator, mut random) = (input_generator(4), Random::new(8));
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..50_000 {
            let Inputs::Payment(payment) = input_generator.draw(Kind::Payment, &mut random) else {
                panic!()
            };
            let is_remote = payment.customer_warehouse != payment.warehouse;
            remote += usize::from(is_remote);
            by_name += usize::from(matches!(payment.customer, Customer::LastName(_)));
            assert!((100..=500_000).contains(&payment.cents));
            assert!(is_remote || payment.customer_district == payment.district);
        }
        assert!(is_near(remote, 50_000, 15.0), "{remote}");
        assert!(is_near(by_name, 50_000, 60.0), "{by_name}");
    }

    #[test]
    fn one_warehouse_has_no_remote_customers() {
        let (input_generator, mut random) = (input_generator(1), Random::new(8));
        for _ in 0..1_000 {
            let Inputs::Payment(payment) = input_generator.draw(Kind::Payment, &mut random) else {
                panic!()
            };
            assert_eq!(payment.customer_district, payment.district);
        }
    }

    #[test]
    fn without_a_home_warehouse_all_warehouses_are_used() {
        let input_generator = InputGenerator { is_home: false, ..input_generator(4) };
        let mut random = Random::new(8);
        let mut seen = [0; 5];
        for _ in 0..4_000 {
            let Inputs::Delivery(it) = input_generator.draw(Kind::Delivery, &mut random) else {
                panic!()
            };
            seen[it.warehouse as usize] += 1;
        }
        assert!(seen[1..].iter().all(|count| is_near(*count, 4_000, 25.0)), "{seen:?}");
    }

    #[test]
    fn stock_level_keeps_to_its_district_only_at_home() {
        let districts = |is_home| {
            let (input_generator, mut random) =
                (InputGenerator { is_home, ..input_generator(4) }, Random::new(8));
            let mut seen = [0; 11];
            for _ in 0..4_000 {
                let Inputs::StockLevel(it) = input_generator.draw(Kind::StockLevel, &mut random)
                else {
                    panic!()
                };
                seen[it.district as usize] += 1;
            }
            seen
        };
        let at_home = districts(true);
        assert_eq!(at_home[Terminal::of_client(13, 4).district as usize], 4_000);
        let drawn = districts(false);
        assert!(drawn[1..].iter().all(|count| is_near(*count, 4_000, 10.0)), "{drawn:?}");
    }
}
