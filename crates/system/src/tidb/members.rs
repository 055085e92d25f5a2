//! The servers of a TiDB's cluster as the TiDB lists them, itself included.

use driver::{Datum, Target};

use crate::ask::rows;
use crate::{MetricsEndpoint, ProgressListener};

/// The servers of TiDB and of its storage, with TiDB's names of their types and their status addresses.
const QUESTION: &str = "SELECT TYPE, STATUS_ADDRESS FROM information_schema.CLUSTER_INFO \
                        WHERE STATUS_ADDRESS <> '' ORDER BY TYPE, STATUS_ADDRESS";

/// The pages on which the members of the cluster expose their metrics. These are the addresses that the members use
/// among themselves; on this machine they may point elsewhere.
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
