//! A property of counted statements that holds for any two pages of metrics.

use super::*;

fuzzing::targets! {
    metrics_statements: statements;
}

/// Between a page and itself nothing is counted, and no more statements by what they do than by their kinds. A line of
/// `--` separates the pages.
fn statements(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, second) = text.split_once("--\n").unwrap_or((&text, ""));
    for counter in COUNTERS {
        let read = |text| Page::parse(text, counter).map(|page| StatementCounters(vec![page]));
        let (Ok(before), Ok(after)) = (read(first), read(second)) else { continue };
        let none = before
            .since(&before)
            .filter(|counts| counts.count.statements().is_some_and(|it| it.total() == 0));
        assert!(none.is_some_and(|counts| counts.counters.is_empty()), "counted without a cause");
        let Some(moved) = after.since(&before) else { continue };
        let kinds = moved.counters.iter().filter(|(name, _)| name.starts_with(counter.name));
        let kinds = kinds.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let statements = moved.count.statements().unwrap();
        assert!(statements.total() <= kinds, "{moved:?}");
    }
}
