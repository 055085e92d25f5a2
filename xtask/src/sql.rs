//! A task's own statements, over a connection that is gone afterwards.

use driver::{Datum, Target};
use measure::Failure;
use net::{Clock, Runtime};

/// The rows that a statement returned, or what became of it.
pub(crate) type Answer = Result<Vec<Vec<Datum>>, Failure>;

/// Runs all statements, whatever comes of them.
pub(crate) fn ask_all(target: &Target, statements: &[String]) -> anyhow::Result<Vec<Answer>> {
    let mut runtime = Runtime::new(Clock::monotonic())?;
    let handle = runtime.handle();
    let (target, statements) = (target.clone(), statements.to_vec());
    let asked = runtime.block_on(async move {
        let mut session = target.connect(&handle, 0).await?;
        let mut answers = Vec::with_capacity(statements.len());
        for sql in &statements {
            answers.push(session.rows(sql).await);
        }
        session.close().await;
        Ok::<_, Failure>(answers)
    });
    Ok(asked??)
}

/// Runs one statement.
pub(crate) fn ask(target: &Target, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
    Ok(ask_all(target, &[statement.to_owned()])?.remove(0)?)
}

/// A number in a cell.
pub(crate) fn number<T: TryFrom<i64> + std::str::FromStr>(cell: &Datum) -> Option<T> {
    match cell {
        Datum::Text(text) => text.parse().ok(),
        Datum::Int(number) => T::try_from(*number).ok(),
        _ => None,
    }
}
