//! The comparison as JUnit XML, which servers of continuous integration show: a case for each threshold and each
//! verdict.

use super::blocks::system;
use super::sides::Matched;
use super::thresholds::{Check, CheckResult};
use super::{Row, RunComparison};
use crate::junit::test_case;
use crate::table::escape;

impl RunComparison<'_, '_> {
    /// A suite of the thresholds, and one of the verdicts, which cannot fail.
    ///
    /// Source: the schema of Jenkins' JUnit plug-in.
    pub fn junit(&self) -> String {
        let strict = self.criteria.is_strict;
        let failures = self.checks.iter().filter(|check| check.is_failure(strict)).count();
        let is_open = |check: &&Check| check.result == CheckResult::NotDecided && !strict;
        let skipped = self.checks.iter().filter(is_open).count();
        let thresholds: String = self.checks.iter().map(|check| self.threshold(check)).collect();
        let verdicts: String = self.rows.iter().map(|row| self.verdict(row)).collect();
        let (tests, rows) = (self.checks.len(), self.rows.len());
        let counts = format!("failures=\"{failures}\" skipped=\"{skipped}\"");
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dyno compare\" tests=\"{}\" {counts}>\n\
             <testsuite name=\"thresholds\" tests=\"{tests}\" {counts}>\n{}{thresholds}</testsuite>\n\
             <testsuite name=\"verdicts\" tests=\"{rows}\" failures=\"0\" skipped=\"0\">\n{verdicts}</testsuite>\n\
             </testsuites>\n",
            tests + rows,
            self.properties(),
        )
    }

    fn properties(&self) -> String {
        if self.differences.is_empty() {
            return String::new();
        }
        let properties = self.differences.iter().map(|it| {
            let name = escape(&format!("{}: {}", it.of, it.fact));
            let value = escape(&it.values.join(" | "));
            format!("<property name=\"{name}\" value=\"{value}\"/>\n")
        });
        format!("<properties>\n{}</properties>\n", properties.collect::<String>())
    }

    fn threshold(&self, check: &Check) -> String {
        let detail = escape(&check.detail);
        let result = match check.result {
            CheckResult::Kept => String::new(),
            _ if check.is_failure(self.criteria.is_strict) => {
                format!("<failure message=\"{}: {detail}\"/>\n", check.result.text())
            }
            _ => format!("<skipped message=\"{}: {detail}\"/>\n", check.result.text()),
        };
        let output = format!("<system-out>{detail}</system-out>\n");
        case(&self.sides.matched[check.matched], &check.threshold.text(), &(result + &output))
    }

    fn verdict(&self, row: &Row) -> String {
        let text = row.found.as_ref().err().map_or_else(|| row.text(), Clone::clone);
        let output = format!("<system-out>{}</system-out>\n", escape(&text));
        case(self.place(row), &row.figure.name(), &output)
    }
}

fn case(place: &Matched<'_, '_>, name: &str, content: &str) -> String {
    let class = format!("{}, {}, {}", system(place.systems), place.workload, place.load());
    test_case(&class, name, content)
}
