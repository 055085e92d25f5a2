//! The history of a plan as one self-contained page.

use super::page;
use crate::document::{Document, Head};
use crate::history::History;

impl History {
    /// As a page with a plot of each series.
    pub fn html(&self) -> String {
        let head = Head { title: self.title(), ..Head::default() };
        page(&Document { head, sections: self.sections() })
    }
}
