//! A kind of system: what the help shows of it, and how it is read.

use std::path::Path;

use plan::declared::OptionList;
use plan::{Options, Problem};

use crate::System;

type Read = fn(&Options, &Path) -> Result<Box<dyn System>, Vec<Problem>>;

/// A kind of system.
pub struct Kind {
    /// Its name in a plan and in `--system`.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// The argument of `--system` for it.
    pub argument: &'static str,
    /// The options that a plan can set for it.
    pub options: OptionList,
    /// Reads its options; relative paths are relative to the folder.
    pub(crate) read: Read,
}
