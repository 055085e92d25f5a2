//! The servers that a TiDB knows to belong to its cluster, itself among them.

use driver::{Datum, Target};

use crate::ask::rows;
use crate::{MetricsEndpoint, ProgressListener};

/// What TiDB calls its own and the storage's servers, and where they show their state.
const QUESTION: &str = "SELECT TYPE, STATUS_ADDRESS FROM information_schema.CLUSTER_INFO \
                        WHERE STATUS_ADDRESS <> '' ORDER BY TYPE, STATUS_ADDRESS";

/// Where the members of the cluster show their figures, as they tell each other: addresses that hold
/// among them may mean something else here.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn members(
    target: &Target,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Vec<MetricsEndpoint>> {
    let member = |row: Vec<Datum>| {
        let mut cells = row.into_iter();
        let (Datum::Text(role), Datum::Text(address)) = (cells.next()?, cells.next()?) else {
            return None;
        };
        Some(MetricsEndpoint::standard(&role, &address))
    };
    Ok(rows(target, QUESTION, listener)?.into_iter().filter_map(member).collect())
}
