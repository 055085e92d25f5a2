//! Loads that several processes offer together: what a workload does otherwise for them.

use engine::Load;

use crate::{LoadPart, Workload, WorkloadContext};

/// How several processes can offer a workload's load together.
pub enum Sharing<'a> {
    /// Each starts its clients as if it were alone.
    Alike,
    /// They know of each other.
    Parts(&'a dyn LoadInParts),
    /// They cannot, for this reason.
    Never(&'static str),
}

/// A workload whose processes know of each other where several of them offer its load.
pub trait LoadInParts {
    /// Remarks on such a load, where it differs from that of one process; each in one line.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the phases so far have found out about the data, for [`LoadInParts::learn`] in another process.
    fn knowledge(&self, _context: &WorkloadContext<'_>) -> Vec<u64> {
        Vec::new()
    }

    /// Takes over the [`LoadInParts::knowledge`] of the process that has prepared the data. Anything else is ignored.
    fn learn(&self, _context: &WorkloadContext<'_>, _knowledge: &[u64]) {}

    /// A part of the load of one trial; [`Workload::load`] is the whole one.
    fn load_part(&self, context: &WorkloadContext<'_>, part: LoadPart) -> Box<dyn Load>;
}

impl<'a> dyn Workload + 'a {
    /// What is different where several processes offer the load; `None` if nothing is.
    pub fn in_parts(&self) -> Option<&dyn LoadInParts> {
        match self.sharing() {
            Sharing::Parts(parts) => Some(parts),
            Sharing::Alike | Sharing::Never(_) => None,
        }
    }

    /// The load of one trial in one of the processes that offer it together.
    pub fn load_part(&self, context: &WorkloadContext<'_>, part: LoadPart) -> Box<dyn Load> {
        match self.in_parts() {
            Some(parts) => parts.load_part(context, part),
            None => self.load(context),
        }
    }
}
