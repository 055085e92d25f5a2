//! Checks properties of readers of foreign bytes on real inputs, on real inputs that are changed in the ways
//! that readers stumble over, and on random bytes. Only tests depend on this crate.

mod check;
mod variations;

pub use check::check;

/// A password that no input holds by chance.
pub const SECRET: &str = "hors3-carr1age-Z9";

/// Makes a test of each target: a property of bytes that panics when it does not hold, and the function
/// that returns real inputs to begin from.
#[macro_export]
macro_rules! targets {
    ($($name:ident: $property:path, from $seeds:path;)*) => {
        $(
            #[test]
            fn $name() {
                $crate::check($seeds(), $property);
            }
        )*
    };
}
