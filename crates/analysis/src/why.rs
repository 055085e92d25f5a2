//! What holds a system back, from an experiment in which small slow-downs were switched on and off.
//!
//! A closed loop's time for each transaction, T = 1/X, is a function of what is put where. Seconds that are added for each
//! transaction at a place cost the whole system beta times as many: 1/beta is how many transactions can be at that place at
//! once without being in each other's way. A place with the demand D has the share X beta D of T, and the shares of
//! all places sum to 1 (docs/statistics/why.md).

mod busy;
mod cycles;
mod design;
mod fit;
mod lasting;
mod matrix;
mod places;
mod profile;
#[cfg(test)]
mod simulated;
mod verdict;

pub use design::{
    CYCLE, Design, WHY_CYCLES_MIN, WHY_LEVERS, WHY_LEVERS_OF_LONG_CYCLE, why_cycle, why_looks,
};
pub use lasting::{Lasting, why_lasting};
pub use places::{LeverEffect, PlaceEffect, Ranged95, WhyEffects, WhyPlace, why_effects};
pub use profile::{FlameBox, flame, hottest_functions};
pub use verdict::{NotDecided, Verdict, why_is_decided, why_verdict};
