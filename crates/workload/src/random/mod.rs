//! Random choices: a generator that gives the same numbers for the same seed, and the distributions that workloads
//! draw from.
//!
//! Each client has a stream of its own, made from the trial's seed and the client's number, so that its draws do not
//! depend on the speed of other clients. Each row of a table has a stream of its own too, so that any loader may
//! generate any row.

mod draw;
mod generator;
mod gray;
mod options;
mod permutation;
mod shape;
mod zipfian;

#[cfg(test)]
mod tests;

pub use draw::Draw;
pub use generator::Random;
pub(crate) use gray::GrayZipfian;
pub(crate) use options::{OPTIONS, read_shape};
pub use permutation::Permutation;
pub use shape::Shape;
pub(crate) use zipfian::Zipfian;
