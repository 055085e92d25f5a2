//! Substitution parameters of the queries (clause 2.4): those of the validation, and those that qgen would draw.
//!
//! The draws follow the clauses, from dyno's own random numbers: qgen's numbers have no public definition outside its
//! source code. Equal seeds and streams give equal parameters on every system.

use tpchgen::distribution::{Distribution, Distributions};

use super::style::{Unit, shifted};
use crate::random::Random;

pub(super) const QUERIES: usize = 22;

/// The nations with their regions (clause 4.2.3), in the order of their keys.
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

/// The parameters of each query at the validation (clause 2.4.x.4), in the order of the clause.
const VALIDATION: [&[&str]; QUERIES] = [
    &["90"],
    &["15", "BRASS", "EUROPE"],
    &["BUILDING", "1995-03-15"],
    &["1993-07-01"],
    &["ASIA", "1994-01-01"],
    &["1994-01-01", "6", "24"],
    &["FRANCE", "GERMANY"],
    &["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
    &["green"],
    &["1993-10-01"],
    &["GERMANY"],
    &["MAIL", "SHIP", "1994-01-01"],
    &["special", "requests"],
    &["1995-09-01"],
    &["1996-01-01"],
    &["Brand#45", "MEDIUM POLISHED", "49", "14", "23", "45", "19", "3", "36", "9"],
    &["Brand#23", "MED BOX"],
    &["300"],
    &["1", "10", "20", "Brand#12", "Brand#23", "Brand#34"],
    &["forest", "1994-01-01", "CANADA"],
    &["SAUDI ARABIA"],
    &["13", "31", "23", "29", "30", "18", "17"],
];

/// The validation parameters of a query, 1 to 22.
pub(super) fn validation(query: usize) -> Vec<String> {
    VALIDATION[query - 1].iter().map(|text| (*text).to_owned()).collect()
}

/// The parameters of a query, 1 to 22, for a stream (clause 2.4.x.3).
pub(super) fn drawn(query: usize, seed: u64, stream: usize) -> Vec<String> {
    Draw(Random::of_part(seed, &[0x07c4, stream as u64, query as u64])).parameters(query)
}

struct Draw(Random);

impl Draw {
    fn parameters(&mut self, query: usize) -> Vec<String> {
        let known = Distributions::static_default();
        match query {
            1 => vec![self.between(60, 120).to_string()],
            2 => {
                let size = self.between(1, 50).to_string();
                let metal = last_word(self.value(known.part_types())).to_owned();
                vec![size, metal, self.region().to_owned()]
            }
            3 => {
                let segment = self.value(known.market_segments()).to_owned();
                vec![segment, format!("1995-03-{:02}", self.between(1, 31))]
            }
            4 => vec![self.first_of_month(58)],
            5 => vec![self.region().to_owned(), self.first_of_year()],
            6 => vec![
                self.first_of_year(),
                self.between(2, 9).to_string(),
                self.between(24, 25).to_string(),
            ],
            7 => {
                let one = self.below(NATIONS.len());
                let other = (one + 1 + self.below(NATIONS.len() - 1)) % NATIONS.len();
                vec![NATIONS[one].0.to_owned(), NATIONS[other].0.to_owned()]
            }
            8 => {
                let (nation, region) = NATIONS[self.below(NATIONS.len())];
                let kind = self.value(known.part_types()).to_owned();
                vec![nation.to_owned(), REGIONS[region].to_owned(), kind]
            }
            9 => vec![self.value(known.part_colors()).to_owned()],
            10 => vec![shifted("1993-02-01", self.between(0, 23), Unit::Month)],
            11 | 21 => vec![NATIONS[self.below(NATIONS.len())].0.to_owned()],
            12 => {
                let [one, other] = self.two_of(known.ship_modes());
                vec![one, other, self.first_of_year()]
            }
            13 => {
                let one = ["special", "pending", "unusual", "express"][self.below(4)];
                let other = ["packages", "requests", "accounts", "deposits"][self.below(4)];
                vec![one.to_owned(), other.to_owned()]
            }
            14 => vec![self.first_of_month(60)],
            15 => vec![self.first_of_month(58)],
            _ => self.later_parameters(query, known),
        }
    }

    fn later_parameters(&mut self, query: usize, known: &Distributions) -> Vec<String> {
        match query {
            16 => {
                let kind = self.value(known.part_types());
                let kind = kind.rsplit_once(' ').map_or(kind, |(first_two, _)| first_two);
                let mut all = vec![self.brand(), kind.to_owned()];
                all.extend(self.distinct(1, 50, 8));
                all
            }
            17 => vec![self.brand(), self.value(known.part_containers()).to_owned()],
            18 => vec![self.between(312, 315).to_string()],
            19 => {
                let quantities = [(1, 10), (10, 20), (20, 30)];
                let quantities = quantities.map(|(low, high)| self.between(low, high).to_string());
                let mut all = quantities.to_vec();
                all.extend((0..3).map(|_| self.brand()));
                all
            }
            20 => {
                let color = self.value(known.part_colors()).to_owned();
                let nation = NATIONS[self.below(NATIONS.len())].0.to_owned();
                vec![color, self.first_of_year(), nation]
            }
            _ => self.distinct(10, 34, 7),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }

    fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.0.below((high - low + 1) as u64) as i32
    }

    fn value(&mut self, of: &Distribution) -> &'static str {
        let values = of.get_values();
        values[self.below(values.len())]
    }

    fn region(&mut self) -> &'static str {
        REGIONS[self.below(REGIONS.len())]
    }

    fn brand(&mut self) -> String {
        format!("Brand#{}{}", self.between(1, 5), self.between(1, 5))
    }

    /// The first of January of 1993 to 1997.
    fn first_of_year(&mut self) -> String {
        format!("{}-01-01", self.between(1993, 1997))
    }

    /// The first day of one of so many months from January 1993.
    fn first_of_month(&mut self, months: i32) -> String {
        shifted("1993-01-01", self.between(0, months - 1), Unit::Month)
    }

    fn two_of(&mut self, of: &Distribution) -> [String; 2] {
        let values = of.get_values();
        let one = self.below(values.len());
        let other = (one + 1 + self.below(values.len() - 1)) % values.len();
        [values[one].to_owned(), values[other].to_owned()]
    }

    /// Different numbers of `low..=high`.
    fn distinct(&mut self, low: i32, high: i32, count: usize) -> Vec<String> {
        let mut left: Vec<i32> = (low..=high).collect();
        (0..count).map(|_| left.swap_remove(self.below(left.len())).to_string()).collect()
    }
}

fn last_word(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All parameters of a query in many streams.
    fn all(query: usize) -> Vec<Vec<String>> {
        (0..3_000).map(|stream| drawn(query, 7, stream)).collect()
    }

    fn seen(query: usize, place: usize) -> BTreeSet<String> {
        all(query).into_iter().map(|parameters| parameters[place].clone()).collect()
    }

    fn ends(query: usize, place: usize) -> (String, String, usize) {
        let seen = seen(query, place);
        (seen.first().unwrap().clone(), seen.last().unwrap().clone(), seen.len())
    }

    fn months(first: &str, last: &str, count: usize) -> (String, String, usize) {
        (first.to_owned(), last.to_owned(), count)
    }

    #[test]
    fn parameters_cover_the_ranges_of_their_clauses() {
        assert_eq!(seen(1, 0).len(), 61);
        assert_eq!((seen(2, 0).len(), seen(2, 1).len(), seen(2, 2).len()), (50, 5, 5));
        assert_eq!(ends(3, 1), months("1995-03-01", "1995-03-31", 31));
        assert_eq!(seen(3, 0).len(), 5);
        assert_eq!(ends(4, 0), months("1993-01-01", "1997-10-01", 58));
        assert_eq!(ends(5, 1), months("1993-01-01", "1997-01-01", 5));
        assert_eq!((seen(6, 1).len(), seen(6, 2).len()), (8, 2));
        assert_eq!((seen(8, 2).len(), seen(9, 0).len()), (150, 92));
        assert_eq!(ends(10, 0), months("1993-02-01", "1995-01-01", 24));
        assert_eq!((seen(11, 0).len(), seen(12, 0).len(), seen(13, 0).len()), (25, 7, 4));
        assert_eq!(ends(14, 0), months("1993-01-01", "1997-12-01", 60));
        assert_eq!(ends(15, 0), months("1993-01-01", "1997-10-01", 58));
        assert_eq!((seen(16, 0).len(), seen(16, 1).len(), seen(16, 9).len()), (25, 30, 50));
        assert_eq!((seen(17, 1).len(), ends(18, 0)), (40, months("312", "315", 4)));
        assert_eq!((seen(19, 0).len(), seen(19, 1).len(), seen(19, 2).len()), (10, 11, 11));
        assert_eq!((seen(20, 0).len(), seen(22, 6).len()), (92, 25));
    }

    #[test]
    fn numbers_and_nations_of_one_query_differ() {
        for (query, first) in [(7, 0), (12, 0), (16, 2), (22, 0)] {
            for parameters in all(query) {
                let end = if query == 12 { 2 } else { parameters.len() };
                let different: BTreeSet<&String> = parameters[first..end].iter().collect();
                assert_eq!(different.len(), end - first, "Q{query}: {parameters:?}");
            }
        }
    }

    #[test]
    fn the_region_of_query_8_is_the_one_of_its_nation() {
        for parameters in all(8) {
            let nation = NATIONS.iter().find(|(name, _)| *name == parameters[0]).unwrap();
            assert_eq!(parameters[1], REGIONS[nation.1]);
        }
    }

    #[test]
    fn drawn_parameters_depend_on_the_seed_and_the_stream_alone() {
        let draw = |seed, stream| drawn(16, seed, stream);
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        for query in 1..=QUERIES {
            assert_eq!(drawn(query, 1, 0).len(), validation(query).len(), "Q{query}");
        }
    }
}
