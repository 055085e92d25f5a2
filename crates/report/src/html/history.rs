//! The history of a plan as one self-contained page.

use super::frame::{closing, opening};
use super::section;
use crate::history::History;
use crate::table::escape;

impl History {
    /// As a page with a plot of each series.
    pub fn html(&self) -> String {
        let title = escape(&self.title());
        let mut out = opening(&title);
        out.push_str(&format!("<header>\n<h1>{title}</h1>\n</header>\n<main>\n"));
        self.sections().iter().for_each(|it| section(it, "", &mut out));
        out.push_str(&closing());
        out
    }
}
