//! Checks properties of readers of foreign bytes on the inputs of a corpus and on those inputs with changes. `cargo
//! xtask fuzz` looks for new inputs by their coverage. Only tests depend on this crate.

mod check;
mod corpus;
#[cfg(fuzzing)]
mod engine;
mod variations;

pub use check::check;
pub use corpus::{folder, line, read};

/// A password that no input holds by chance.
pub const SECRET: &str = "hors3-carr1age-Z9";

/// What a property returns: nothing, or `None` for an input that its reader refuses, of which there is nothing to check.
pub trait Outcome {
    /// Whether the reader has refused the input.
    fn is_refused(&self) -> bool;
}

impl Outcome for () {
    fn is_refused(&self) -> bool {
        false
    }
}

impl Outcome for Option<()> {
    fn is_refused(&self) -> bool {
        self.is_none()
    }
}

/// Makes a test of each target: a property of bytes that panics when it does not hold, and returns an [`Outcome`]. The
/// target's inputs are in `fuzz/corpus/NAME.txt`; the first one is not refused.
#[macro_export]
macro_rules! targets {
    ($($name:ident: $property:path;)*) => {
        $(
            #[test]
            fn $name() {
                $crate::check(stringify!($name), |bytes| {
                    $crate::Outcome::is_refused(&$property(bytes))
                });
            }
        )*
    };
}
