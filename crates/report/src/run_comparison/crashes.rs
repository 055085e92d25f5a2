//! How often the server of each side crashed.

use analysis::{Cases, LEVEL, fisher_exact};

use super::sides::{Matched, Sides};

/// Crashes of two systems under the loads that both had.
#[derive(Debug)]
pub(super) struct CrashRow<'a> {
    pub(super) systems: [&'a str; 2],
    /// Trials of each side, and those in which the server crashed.
    pub(super) cases: [Cases; 2],
    /// Fisher's exact test, not corrected.
    pub(super) p_value: f64,
    /// The same, corrected over the family.
    pub(super) corrected: f64,
}

/// A row for each pair of systems of which one crashed.
pub(super) fn rows<'a>(sides: &Sides<'_, 'a>) -> Vec<CrashRow<'a>> {
    let of = |systems: &[&'a str; 2]| {
        let mut cases = [Cases::default(); 2];
        for matched in sides.matched.iter().filter(|it| it.systems == *systems) {
            for (side, sum) in cases.iter_mut().enumerate() {
                let of_point = crashed(matched, side);
                (sum.failed, sum.all) = (sum.failed + of_point.failed, sum.all + of_point.all);
            }
        }
        let p_value = fisher_exact(cases[0], cases[1]);
        CrashRow { systems: *systems, cases, p_value, corrected: 1.0 }
    };
    let all = sides.systems.iter().map(of);
    all.filter(|row| row.cases.iter().any(|cases| cases.failed > 0)).collect()
}

/// The trials of one side at a point, and those in which the server crashed.
pub(super) fn crashed(matched: &Matched<'_, '_>, side: usize) -> Cases {
    let trials = || matched.points[side].iter().flat_map(|it| it.trials());
    let failed = trials().filter(|trial| trial.has_crashed()).count() as u64;
    Cases { failed, all: trials().count() as u64 }
}

impl CrashRow<'_> {
    fn rates(&self) -> [f64; 2] {
        self.cases.map(|cases| cases.failed as f64 / cases.all.max(1) as f64)
    }

    pub(super) fn code(&self) -> &'static str {
        let [baseline, candidate] = self.rates();
        match self.corrected < LEVEL {
            false => "not-decided",
            true if candidate > baseline => "more",
            true => "less",
        }
    }

    pub(super) fn text(&self) -> &'static str {
        match self.code() {
            "more" => "crashes more often",
            "less" => "crashes less often",
            _ => "not decided",
        }
    }
}
