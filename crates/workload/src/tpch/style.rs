//! Pieces of the queries that systems write differently: dates, intervals and decimal constants.

use driver::Dialect;

/// The unit of an interval of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Month,
    Year,
}

/// How a system writes constants. Where a system has no intervals or no exact decimals, the query has the results of
/// their arithmetic as constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style<'a>(pub(super) &'a Dialect);

impl Style<'_> {
    /// A date, such as `1995-03-15`.
    pub(super) fn date(self, date: &str) -> String {
        self.0.date_literal.replace("{date}", date)
    }

    /// A date and an interval after it; a negative `count` means before.
    pub(super) fn date_plus(self, date: &str, count: i32, unit: Unit) -> String {
        let Some(template) = self.0.date_plus else {
            return self.date(&shifted(date, count, unit));
        };
        let (sign, word) = (if count < 0 { "-" } else { "+" }, unit.word());
        let parts = [
            ("{date}", self.date(date)),
            ("{sign}", sign.to_owned()),
            ("{count}", count.unsigned_abs().to_string()),
            ("{unit}", word.to_owned()),
        ];
        parts.iter().fold(template.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    pub(super) fn year(self, column: &str) -> String {
        self.0.year_of.replace("{column}", column)
    }

    pub(super) fn hundredths_plus(self, hundredths: i32, difference: i32) -> String {
        if !self.0.has_exact_decimals {
            return fixed(hundredths + difference);
        }
        let sign = if difference < 0 { '-' } else { '+' };
        format!("{} {sign} {}", fixed(hundredths), fixed(difference.abs()))
    }
}

/// A number of hundredths that is not negative.
fn fixed(hundredths: i32) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Month => "MONTH",
            Self::Year => "YEAR",
        }
    }
}

/// A date and an interval after it. Months and years are added to first days of months alone, so no day overflows.
pub(super) fn shifted(date: &str, count: i32, unit: Unit) -> String {
    let mut fields = date.split('-').map(|field| field.parse::<i32>().unwrap_or_default());
    let [year, month, day] = [(); 3].map(|()| fields.next().unwrap_or_default());
    let (year, month, day) = match unit {
        Unit::Day => civil(days(year, month, day) + count),
        Unit::Month => {
            let months = year * 12 + month - 1 + count;
            (months.div_euclid(12), months.rem_euclid(12) + 1, day)
        }
        Unit::Year => (year + count, month, day),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days before the first of January of a year, from year 0.
fn days_before(year: i32) -> i32 {
    let last = year - 1;
    year * 365 + last.div_euclid(4) - last.div_euclid(100) + last.div_euclid(400)
}

fn month_days(year: i32) -> [i32; 12] {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    [31, 28 + i32::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

fn days(year: i32, month: i32, day: i32) -> i32 {
    let before: i32 = month_days(year).iter().take(month as usize - 1).sum();
    days_before(year) + before + day
}

fn civil(days: i32) -> (i32, i32, i32) {
    let mut year = days / 366;
    while days_before(year + 1) < days {
        year += 1;
    }
    let mut day = days - days_before(year);
    let mut month = 1;
    for length in month_days(year) {
        if day <= length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_shifted_over_months_years_and_leap_days() {
        assert_eq!(shifted("1998-12-01", -90, Unit::Day), "1998-09-02");
        assert_eq!(shifted("1998-12-01", -60, Unit::Day), "1998-10-02");
        assert_eq!(shifted("1996-02-28", 1, Unit::Day), "1996-02-29");
        assert_eq!(shifted("1996-12-31", 1, Unit::Day), "1997-01-01");
        assert_eq!(shifted("1993-11-01", 3, Unit::Month), "1994-02-01");
        assert_eq!(shifted("1994-01-01", 1, Unit::Year), "1995-01-01");
    }

    #[test]
    fn systems_without_intervals_and_decimals_get_the_results_as_constants() {
        let mysql = Style(&driver::mysql::DIALECT);
        let sqlite = Style(&driver::sqlite::DIALECT);
        assert_eq!(
            mysql.date_plus("1998-12-01", -90, Unit::Day),
            "DATE '1998-12-01' - INTERVAL '90' DAY"
        );
        assert_eq!(sqlite.date_plus("1998-12-01", -90, Unit::Day), "'1998-09-02'");
        assert_eq!(mysql.hundredths_plus(6, -1), "0.06 - 0.01");
        assert_eq!(sqlite.hundredths_plus(6, 1), "0.07");
    }
}
