//! Compares an answer with the expected one, with the tolerances of clause 2.1.3.5.

use super::answers::Rows;

/// How many differing rows are shown.
const SHOWN_MAX: usize = 3;
/// A sum may be so far off (clause 2.1.3.5 c).
const SUM_TOLERANCE: f64 = 100.0;
/// A ratio or a mean may be off by this part of the expected value, once it is rounded to hundredths (b and d).
const RATIO_TOLERANCE: f64 = 0.01;

/// How far a row may be from its place: more rows than any query leaves in an equal order.
const TIES_MAX: usize = 100;

/// What a column holds, which decides how exact it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// A text, a date, or a number that is stored or counted: equal.
    Exact,
    Sum,
    Ratio,
}

use Column::{Exact, Ratio, Sum};

/// The columns of each query's answer. Those not listed are exact.
fn column(query: usize, place: usize) -> Column {
    match (query, place) {
        (1, 2..=5) | (3 | 5 | 11, 1) | (6 | 19, 0) | (7, 3) | (9 | 10 | 22, 2) | (15, 4) => Sum,
        (1, 6..=8) | (8, 1) | (14 | 17, 0) => Ratio,
        // The quantity of an order in Q18 is a whole number, and those of Q12 are counts.
        _ => Exact,
    }
}

fn ordering(query: usize) -> &'static [usize] {
    match query {
        1 => &[0, 1],
        2 => &[0, 2, 1, 3],
        3 => &[1, 2],
        4 | 8 | 12 | 15 | 20 | 22 => &[0],
        5 | 11 => &[1],
        7 => &[0, 1, 2],
        9 => &[0, 1],
        10 => &[2],
        13 => &[1, 0],
        16 => &[3, 0, 1, 2],
        18 => &[4, 3],
        21 => &[1, 0],
        _ => &[],
    }
}

/// The first differences of an answer from the expected one; `None` if it is right.
///
/// Rows that the query's order leaves equal may come in any order: each expected row must be there once, and the columns
/// of the order must agree row by row.
pub(super) fn difference(query: usize, expected: &Rows, got: &Rows) -> Option<String> {
    let mut shown = Vec::new();
    if expected.len() != got.len() {
        shown.push(format!("{} rows instead of {}", got.len(), expected.len()));
    }
    let mut left: Vec<bool> = vec![true; got.len()];
    let mut count = 0;
    for (place, wanted) in expected.iter().enumerate() {
        let is_ordered = got
            .get(place)
            .is_none_or(|row| ordering(query).iter().all(|&cell| agrees(query, cell, wanted, row)));
        if is_ordered && take(query, wanted, place, got, &mut left) {
            continue;
        }
        count += 1;
        if count <= SHOWN_MAX {
            let row = got.get(place).map_or_else(|| "nothing".to_owned(), |row| row.join(" | "));
            shown.push(format!("row {}: {row}, not {}", place + 1, wanted.join(" | ")));
        }
    }
    if count > SHOWN_MAX {
        shown.push(format!("{} more rows differ", count - SHOWN_MAX));
    }
    (!shown.is_empty()).then(|| shown.join("; "))
}

/// Takes one row that equals `wanted` out of those that are left, first the one in its place, then its neighbours.
fn take(query: usize, wanted: &[String], place: usize, got: &Rows, left: &mut [bool]) -> bool {
    let is_it = |at: &usize, left: &[bool]| {
        left[*at] && got[*at].len() == wanted.len() && equal(query, wanted, &got[*at])
    };
    let here = (place < got.len()).then_some(place).filter(|at| is_it(at, left));
    let near = place.saturating_sub(TIES_MAX)..got.len().min(place + TIES_MAX);
    let found = here.or_else(|| near.into_iter().find(|at| is_it(at, left)));
    found.map(|at| left[at] = false).is_some()
}

fn unfilled(text: &str) -> &str {
    text.trim_end_matches(' ')
}

fn equal(query: usize, wanted: &[String], row: &[String]) -> bool {
    (0..wanted.len()).all(|cell| agrees(query, cell, wanted, row))
}

fn agrees(query: usize, cell: usize, wanted: &[String], row: &[String]) -> bool {
    let (Some(wanted), Some(got)) = (wanted.get(cell), row.get(cell)) else { return false };
    // With PAD_CHAR_TO_FULL_LENGTH a server shows the blanks that fill a CHAR up.
    if unfilled(wanted) == unfilled(got) {
        return true;
    }
    let numbers = wanted.parse::<f64>().ok().zip(got.parse::<f64>().ok());
    match (column(query, cell), numbers) {
        (Sum, Some((wanted, got))) => (got - wanted).abs() <= SUM_TOLERANCE,
        (Ratio, Some((wanted, got))) => is_near(wanted, got),
        // A system may write 17.00 where another one writes 17.
        (Exact, Some((wanted, got))) => wanted == got,
        (Exact | Sum | Ratio, _) => false,
    }
}

/// Whether a ratio is within its tolerance. Clause 2.1.3.5 rounds it to hundredths first, where a small one, such as a
/// market share of 0.03, would fail by rounding alone: so it may also agree without rounding.
fn is_near(wanted: f64, got: f64) -> bool {
    let rounded = (got * 100.0).round() / 100.0;
    [got, rounded].iter().any(|value| (value - wanted).abs() <= RATIO_TOLERANCE * wanted.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Rows {
        text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
    }

    fn differs(query: usize, expected: &str, got: &str) -> Option<String> {
        difference(query, &rows(expected), &rows(got))
    }

    #[test]
    fn sums_ratios_and_means_have_the_tolerances_of_the_clause() {
        assert_eq!(differs(6, "1000.5", "1100.5"), None);
        assert_eq!(differs(6, "1000.5", "1100.6").unwrap(), "row 1: 1100.6, not 1000.5");
        assert_eq!(differs(17, "5000", "5050"), None);
        assert!(differs(17, "5000", "5051").is_some());
        assert_eq!(differs(8, "1995|0.034435", "1995|0.0344"), None);
        assert!(differs(8, "1995|0.034435", "1995|0.0355").is_some());
        assert!(differs(6, "1000.5", "NULL").is_some());
    }

    #[test]
    fn counts_texts_and_stored_values_are_exact() {
        assert!(differs(4, "1-URGENT|93", "1-URGENT|94").is_some());
        assert!(differs(12, "MAIL|64|86", "MAIL|64|87").is_some());
        assert!(differs(10, "8|A|10.5|1.25|X|a|p|c", "8|A|10.5|1.26|X|a|p|c").is_some());
        assert_eq!(differs(18, "A|1|2|1995-01-01|5.10|301.00", "A|1|2|1995-01-01|5.1|301"), None);
        assert_eq!(differs(4, "1-URGENT|93", "1-URGENT       |93"), None, "a CHAR in full length");
    }

    #[test]
    fn rows_with_an_equal_order_may_change_places_and_others_may_not() {
        let (one, other) = ("1|50.0|1995-02-01|0", "2|50.0|1995-02-01|0");
        let (forth, back) = (format!("{one}\n{other}"), format!("{other}\n{one}"));
        assert_eq!(differs(3, &forth, &back), None);
        let (forth, back) = ("2|7\n1|6\n0|5", "1|6\n2|7\n0|5");
        let told = differs(13, forth, back).unwrap();
        assert_eq!(told, "row 1: 1 | 6, not 2 | 7; row 2: 2 | 7, not 1 | 6");
    }

    #[test]
    fn missing_and_surplus_rows_are_told() {
        assert_eq!(
            differs(22, "13|1|2\n17|1|2", "13|1|2").unwrap(),
            "1 rows instead of 2; row 2: nothing, not 17 | 1 | 2"
        );
        assert_eq!(differs(22, "13|1|2", "13|1|2\n17|1|2").unwrap(), "2 rows instead of 1");
        let told = differs(22, "1|1|1\n2|2|2\n3|3|3\n4|4|4\n5|5|5", "a|a|a").unwrap();
        assert!(told.ends_with("2 more rows differ"), "{told}");
    }

    #[test]
    fn a_row_is_counted_once() {
        assert!(differs(20, "A|x\nA|x", "A|x\nB|x").is_some());
        assert!(differs(16, "B|T|1|4\nC|T|1|4", "B|T|1|4\nB|T|1|4").is_some());
    }
}
