//! Views of a record: terminal, Markdown, HTML with SVG, CSV, JSON.
//!
//! Every view is a pure function of a [`record::Run`], read once as a [`Reading`]: the same record always gives the
//! same text. `analysis` computes the figures, `sections` makes the document of them, and the views render it.

mod bounded;
mod brief;
mod calls;
mod ceiling;
mod comparison;
mod comparison_notes;
mod composite;
mod conclusion;
mod confidence;
mod cross_check;
mod csv;
mod differences;
mod digest;
mod document;
mod doubt;
mod ending;
mod fail_if;
mod failures;
mod figure;
mod figure_list;
mod finding;
mod front;
#[cfg(test)]
mod fuzz;
mod generator;
mod generators;
mod headline;
mod history;
mod html;
mod json;
mod junit;
mod latency_json;
mod loading;
mod markdown;
mod member_exits;
mod messages;
mod noise_floor;
mod number;
mod operations;
mod panels;
mod planned;
mod plots;
mod pooling;
mod reading;
mod rounds;
mod rules;
mod run_comparison;
mod run_findings;
mod scaling;
mod schema;
mod sections;
mod seek;
mod server_actions;
mod settings;
mod spans;
mod statistics;
mod svg;
mod table;
mod tables;
mod template;
mod terminal;
mod turns;
mod variance;
mod verdict;
mod visible;
mod watch;
mod why;
mod windows;
mod wrap;
mod write;

#[cfg(test)]
mod sample;

pub use analysis::ChangeTest;
pub use brief::brief;
pub use ceiling::ceiling;
pub use csv::{csv, watch_csv};
pub use digest::Digest;
pub use doubt::Doubt;
pub use figure_list::{Better, figure_list};
pub use headline::{BestLoad, best_load, trial_headline};
pub use history::{ChangeCriteria, History, HistoryRun, LeftOut, PlanText};
pub use html::html;
#[cfg(test)]
pub(crate) use html::whole_html;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use number::{latency, number, several};
pub use planned::{Planned, PlannedTrial};
pub use pooling::{open, open_unwatched};
pub use reading::Reading;
pub use run_comparison::{Criteria, Outcome, Refusal, RunComparison, Selection, Threshold};
pub use schema::schema;
pub use table::Table;
#[cfg(test)]
pub(crate) use terminal::terminal;
pub use terminal::{full_summary, summary};
pub use verdict::Verdict;
pub use visible::visible;
pub use wrap::fold;
pub use write::{ReportError, write_all, write_plots};
