//! Test inputs for readers of foreign bytes: real inputs, changed in the ways that readers stumble over,
//! and random bytes. Only tests depend on this crate.

use std::ops::Bound::{Excluded, Included};

pub use bolero;
use bolero::{Driver, ValueGenerator};

/// The longest input that is made of random bytes alone.
const RANDOM_BYTES_MAX: usize = 512;
/// The longest input of any kind.
const INPUT_BYTES_MAX: usize = 8 * 1024;
/// The largest number of changes to one real input.
const CHANGES_MAX: usize = 13;
/// The largest number of bytes that one change removes.
const REMOVED_BYTES_MAX: usize = 8;
/// Bytes that have a meaning in a protocol, in TOML, in URLs or in SQL.
const SYNTAX_BYTES: &[u8] =
    b"\x00\x01\x7f\x80\xfa\xfb\xfc\xfd\xfe\xff'\"`\\\n\r\t =[]{}#@:/?%&;,.-_09eE*";

/// Makes a test of each target: a property of bytes that panics when it does not hold, and the function
/// that returns real inputs to begin from. `cargo test` runs each target briefly; `cargo xtask fuzz` runs
/// it for long and lets the coverage of the code guide the inputs.
#[macro_export]
macro_rules! targets {
    ($($name:ident: $property:path, from $seeds:path;)*) => {
        $(
            #[test]
            fn $name() {
                ($seeds)().iter().for_each(|seed| $property(seed));
                $crate::bolero::check!()
                    .with_iterations(400)
                    .with_generator($crate::variations(($seeds)()))
                    .for_each(|bytes| $property(bytes));
            }
        )*
    };
}

/// A password that no input holds by chance.
pub const SECRET: &str = "hors3-carr1age-Z9";

/// Generates inputs from these real ones: as they are, changed, or random bytes instead.
pub fn variations(seeds: Vec<Vec<u8>>) -> impl ValueGenerator<Output = Vec<u8>> {
    Variations { seeds }
}

struct Variations {
    seeds: Vec<Vec<u8>>,
}

impl ValueGenerator for Variations {
    type Output = Vec<u8>;

    fn generate<D: Driver>(&self, driver: &mut D) -> Option<Vec<u8>> {
        if self.seeds.is_empty() || below(driver, 8)? == 0 {
            let length = below(driver, RANDOM_BYTES_MAX + 1)?;
            return (0..length).map(|_| driver.produce()).collect();
        }
        let mut input = self.seeds[below(driver, self.seeds.len())?].clone();
        for _ in 0..below(driver, CHANGES_MAX)? {
            self.change(&mut input, driver)?;
        }
        input.truncate(INPUT_BYTES_MAX);
        Some(input)
    }
}

impl Variations {
    /// Makes one change, at the same place in every kind of change.
    fn change<D: Driver>(&self, input: &mut Vec<u8>, driver: &mut D) -> Option<()> {
        let place = below(driver, input.len() + 1)?;
        let is_at_end = place == input.len();
        match below(driver, 8)? {
            0 | 1 if !is_at_end => input[place] = driver.produce()?,
            2 if !is_at_end => input[place] = syntax_byte(driver)?,
            3 if !is_at_end => input[place] ^= 1 << below(driver, 8)?,
            4 => input.insert(place, syntax_byte(driver)?),
            5 if !is_at_end => {
                let end = (place + 1 + below(driver, REMOVED_BYTES_MAX)?).min(input.len());
                input.drain(place..end);
            }
            6 => {
                let other = &self.seeds[below(driver, self.seeds.len())?];
                let from = below(driver, other.len() + 1)?;
                input.truncate(place);
                input.extend_from_slice(&other[from..]);
            }
            7 if below(driver, 4)? == 0 => input.truncate(place),
            _ if input.len() > INPUT_BYTES_MAX => {}
            _ => input.extend_from_within(place..),
        }
        Some(())
    }
}

fn syntax_byte<D: Driver>(driver: &mut D) -> Option<u8> {
    Some(SYNTAX_BYTES[below(driver, SYNTAX_BYTES.len())?])
}

/// A number from 0 to `bound` - 1.
fn below<D: Driver>(driver: &mut D, bound: usize) -> Option<usize> {
    driver.gen_usize(Included(&0), Excluded(&bound))
}
