//! The plan of a run: systems x workloads x loads x repetitions. Reads TOML, with units, and checks it.
//!
//! [`Plan::parse`] turns text into a [`Plan`] or into a [`Problem`] that points at the place. This room does not know
//! the meaning of the options of a workload or a system: they stay [`Options`], which the room that owns them reads
//! and checks with the same tools.

mod bounds;
mod ceiling;
mod compose;
mod conflicts;
mod cpus;
pub mod declared;
mod ending;
mod enough_rounds;
mod fail_if;
mod files;
#[doc(hidden)]
#[cfg(test)]
mod fuzz;
mod generators;
mod keys;
mod options;
mod overrides;
mod parse;
mod parts;
mod password;
mod place;
mod plan_secrets;
mod problem;
mod problems;
mod rate;
mod reader;
mod rounds;
mod scrub;
mod seek;
mod shell_words;
mod shuffle;
mod simulated;
mod source;
mod spelling;
pub mod split_mix;
mod text_file;
mod types;
mod units;
mod value;
mod variants;
mod watch;
mod why;
mod windows;

pub use bounds::Bounds;
pub use ceiling::CeilingPlan;
pub use compose::{Draft, DraftPart, compose};
pub use cpus::CpuList;
pub use ending::{
    PRECISE_INTERVALS_MIN, PreciseFigure, PrecisionPlan, STEADY_INTERVALS_MIN, SteadyPlan,
};
pub use enough_rounds::{RoundsGoal, RoundsPlan};
pub use fail_if::{Beyond, FAIL_IF_MAX, FailFigure, FailIf};
pub use files::{FileContents, Files};
pub use generators::{OnGeneratorLoss, generator_names};
pub use keys::{Form, Key};
pub use options::{Line, Options};
pub use overrides::TextOptions;
pub use parse::{LEAST_DIFFERENCE, PERCENTILES_MAX, PlanKeys, plan_keys};
pub use parts::{SCHEMES, kind_of_url};
pub use password::Password;
pub use place::Place;
pub use problem::Problem;
pub use problems::{Color, Problems};
pub use rate::{Arrivals, OpenLoop, Rate, RateStep, show_steps};
pub use reader::OptionReader;
pub use rounds::balanced_rounds;
pub use scrub::{hide, names_secret, names_secret_header, scrub, scrub_setting, scrub_words};
pub use seek::{Bound, BoundFigure, Over, SeekPlan, SeekTrial};
pub use shuffle::Shuffle;
pub use simulated::{Noise, ServiceDistribution, SimulatedSystem, Stall};
pub use source::{Source, bad_name};
pub use spelling::nearest;
pub use text_file::{read_text, read_text_lossy};
pub use types::{
    Between, Existing, Limit, LoadPlan, PhaseSql, Plan, SystemInstance, SystemPlan, Trial, Variant,
    WarmUp, WorkloadPlan,
};
pub use units::{parse_bytes, parse_count, parse_duration, show_duration};
pub use watch::{EndpointPlan, EndpointSource, WatchPlan};
pub use why::{Toggle, WhyPlan};
