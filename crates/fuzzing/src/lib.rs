//! Checks properties of readers of foreign bytes on the inputs of a corpus and on those inputs with changes. The tasks
//! of `cargo xtask fuzz` look for new inputs by their coverage. Only tests depend on this crate.

mod check;
mod corpus;
#[cfg(fuzzing)]
mod engine;
mod parts;
mod variations;

pub use check::{check, check_inputs};
pub use corpus::{folder, line, read};

/// A password that no input holds by chance.
pub const SECRET: &str = "hors3-carr1age-Z9";

/// Makes a test of each target: a property of bytes that panics when it does not hold. The target's inputs are in
/// `fuzz/corpus/NAME.txt`.
#[macro_export]
macro_rules! targets {
    ($($name:ident: $property:path;)*) => {
        $(
            #[test]
            fn $name() {
                $crate::check(stringify!($name), $property);
            }
        )*
    };
}
