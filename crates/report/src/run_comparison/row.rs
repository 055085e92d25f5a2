//! One row of the comparison: a figure at a point, with its verdict in words.

use analysis::{Significance, Tests};

use super::Verdict;
use super::found::{Found, found};
use super::sides::Matched;
use super::thresholds::Criteria;
use crate::figure::Figure;
use crate::noise_floor;
use crate::number::{number, percent, signed_percent};

/// A difference of failed parts below this does not matter: one in a thousand.
const FAILED_LEAST: f64 = 0.001;

/// A larger change is told as a multiple.
const MULTIPLE_FROM: f64 = 1.0;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) matched: usize,
    pub(super) figure: Figure,
    /// The figure of both sides, or why it is not compared.
    pub(super) found: Result<Found, String>,
    /// The least difference that matters, on the scale of the contrast.
    pub(super) least: f64,
    /// The largest change of the baseline measured twice that its interval holds, where the same rounds measured that.
    pub(super) noise_floor: Option<f64>,
    /// Its own tests, not corrected.
    pub(super) tests: Tests,
    pub(super) corrected: Tests,
    pub(super) verdict: Option<Significance>,
    /// How many repetitions of each side are likely to decide; `None` when it is decided, and when no number is.
    pub(super) needed: Option<usize>,
}

impl Row {
    /// `None` when neither side has the figure.
    pub(super) fn of(
        matched: usize,
        place: &Matched<'_, '_>,
        figure: Figure,
        criteria: &Criteria,
    ) -> Option<Self> {
        let found = found(place, figure)?;
        let least = if figure.is_part() { FAILED_LEAST } else { criteria.margin.ln_1p() };
        let none = Tests { difference: 1.0, equality: 1.0 };
        let tests = found.as_ref().map_or(none, |found| found.contrast.tests(least));
        let verdict = found.is_ok().then_some(Significance::TooFewRounds);
        let noise = place.noise().and_then(|noise| self::found(&noise, figure)?.ok());
        let noise_floor = noise.and_then(|noise| noise.noise_floor());
        let corrected = none;
        Some(Self {
            matched,
            figure,
            found,
            least,
            noise_floor,
            tests,
            corrected,
            verdict,
            needed: None,
        })
    }

    /// Whether the verdict is on a difference that the baseline measured twice could show as well; `None` where there is
    /// no such verdict, or no noise floor.
    pub(super) fn is_within_noise(&self) -> Option<bool> {
        let (Ok(found), Some(floor)) = (&self.found, self.noise_floor) else { return None };
        let is_difference =
            matches!(self.verdict, Some(Significance::Higher | Significance::Lower));
        is_difference.then(|| found.size() <= floor)
    }

    /// Whether the row tells something: failures are shown where there are some, and where a threshold asks for them.
    pub(super) fn is_shown(&self, criteria: &Criteria) -> bool {
        let is_asked = criteria.thresholds.iter().any(|threshold| threshold.figure == self.figure);
        let has_values = self.found.as_ref().is_ok_and(|found| found.values != [0.0, 0.0]);
        !self.figure.is_part() || is_asked || has_values
    }

    /// Whether the row has a verdict that a test decides.
    pub(super) fn is_judged(&self) -> bool {
        self.found.as_ref().is_ok_and(|found| found.contrast.has_interval())
    }

    /// Sets the verdict by corrected tests; `level` is the strictest level that the correction asks for.
    pub(super) fn set_verdict(&mut self, corrected: Tests, level: f64) {
        let Ok(found) = &self.found else { return };
        let verdict = Significance::judged(&found.contrast, self.least, corrected);
        self.corrected = corrected;
        self.verdict = Some(verdict);
        if verdict == Significance::Undecided {
            self.needed = found.contrast.repetitions_needed(self.least, level);
        }
    }

    /// The verdict with its values; `None` when the figure is not compared.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let found = self.found.as_ref().ok()?;
        Some(Verdict {
            figure: self.figure,
            significance: self.verdict?,
            change: found.change(),
            interval: found.interval(0.95),
            largest: found.largest(),
            counts: found.contrast.counts,
            unit: found.unit,
        })
    }

    pub(super) fn code(&self) -> &'static str {
        match self.verdict {
            None => "not-compared",
            Some(Significance::TooFewRounds) => "too-few-repetitions",
            Some(Significance::Equal) => "no-difference-larger",
            Some(Significance::Undecided) => "not-decided",
            Some(verdict) => self.figure.verdict(verdict),
        }
    }

    /// The verdict in words, such as `faster by 3.1 % (1.9 to 4.4)`.
    pub(super) fn text(&self) -> String {
        let (Ok(found), Some(verdict)) = (&self.found, self.verdict) else {
            return "not compared".to_owned();
        };
        let unit = self.unit();
        match verdict {
            Significance::TooFewRounds => format!("too few {}", found.unit.name()),
            Significance::Equal => {
                format!("no difference larger than {}{unit}", digits(found.largest()))
            }
            Significance::Undecided => match self.needed {
                Some(needed) => {
                    format!("not decided; about {needed} {} would decide", found.unit.name())
                }
                None => "not decided".to_owned(),
            },
            Significance::Higher | Significance::Lower => {
                let word = self.figure.verdict(verdict);
                let mark = noise_floor::mark(self.is_within_noise());
                if self.is_multiple(found) {
                    return format!("{word}: {}{mark}", self.change(found));
                }
                let mut ends = found.interval(0.95).map(f64::abs);
                ends.sort_by(f64::total_cmp);
                format!(
                    "{word} by {}{unit} ({} to {}){mark}",
                    digits(found.change().abs()),
                    digits(ends[0]),
                    digits(ends[1]),
                )
            }
        }
    }

    /// The change with its interval where it has one: `+4.0 % (+1.0 % to +7.0 %)`; of more than twice the baseline
    /// `86.0 times (17.0 to 443)`.
    pub(super) fn change(&self, found: &Found) -> String {
        let show = |change: f64| match self.is_multiple(found) {
            true => number(1.0 + change),
            false => self.signed(change),
        };
        let times = if self.is_multiple(found) { " times" } else { "" };
        let change = format!("{}{times}", show(found.change()));
        if !found.contrast.has_interval() {
            return change;
        }
        let [low, high] = found.interval(0.95).map(show);
        format!("{change} ({low} to {high})")
    }

    /// Whether per cent would hide how often the baseline's figure is in the candidate's.
    fn is_multiple(&self, found: &Found) -> bool {
        !found.is_part && found.change() > MULTIPLE_FROM
    }

    pub(super) fn signed(&self, change: f64) -> String {
        let percent = signed_percent(change);
        format!("{}{}", percent.trim_end_matches(" %"), self.unit())
    }

    pub(super) fn size(&self, change: f64) -> String {
        format!("{}{}", digits(change), self.unit())
    }

    fn unit(&self) -> &'static str {
        if self.figure.is_part() { " points" } else { " %" }
    }
}

/// A part in hundredths, without the sign of per cent.
fn digits(part: f64) -> String {
    percent(part).trim_end_matches(" %").to_owned()
}
