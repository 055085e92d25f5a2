//! Structs of the format that have the same fields as one of ours.

/// Both ways between two structs with the same fields: those that are the same on both sides, then those
/// that have a way there and back, then lists of such.
macro_rules! mirror {
    ($domain:ident, $file:ident, $($same:ident),+ $(; into $($into:ident),+)? $(; each $($each:ident),+)?) => {
        impl From<$domain> for $file {
            fn from(from: $domain) -> Self {
                let $domain { $($same,)+ $($($into,)+)? $($($each,)+)? } = from;
                $($(let $into = $into.into();)+)?
                $($(let $each = $each.into_iter().map(Into::into).collect();)+)?
                Self { $($same,)+ $($($into,)+)? $($($each,)+)? }
            }
        }

        impl From<$file> for $domain {
            fn from(from: $file) -> Self {
                let $file { $($same,)+ $($($into,)+)? $($($each,)+)? } = from;
                $($(let $into = $into.into();)+)?
                $($(let $each = $each.into_iter().map(Into::into).collect();)+)?
                Self { $($same,)+ $($($into,)+)? $($($each,)+)? }
            }
        }
    };
}

pub(super) use mirror;
