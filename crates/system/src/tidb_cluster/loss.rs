//! What the exit of a member means for the cluster.

use super::member::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnMemberExit {
    /// The others go on, as long as clients can be served.
    Continue,
    Crash,
}

/// The number of servers of a role that were started, and of those that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoleCount {
    pub(super) role: Role,
    pub(super) started: usize,
    pub(super) running: usize,
}

/// Why no client can be served any more by a cluster whose regions have so many replicas; `None` while some can.
///
/// PDs need a majority for a leader, which hands out the timestamps of transactions; a region needs a majority of its
/// replicas for one. With fewer stores than that majority, no region has a leader.
pub(super) fn unserved(counts: &[RoleCount; 3], replicas: usize) -> Option<String> {
    let lack = |count: &RoleCount| {
        let RoleCount { role, started, running } = *count;
        let least = match role {
            Role::Pd => majority(started),
            Role::TiKv => majority(replicas),
            Role::TiDb => 1,
        };
        let runs = if running == 1 { "runs" } else { "run" };
        let needed = if least == 1 { "is" } else { "are" };
        let name = role.name();
        (running < least)
            .then(|| format!("of {started} {name}, {running} {runs} and {least} {needed} needed"))
    };
    let lacks: Vec<String> = counts.iter().filter_map(lack).collect();
    (!lacks.is_empty()).then(|| format!("no client can be served any more: {}", lacks.join("; ")))
}

fn majority(of: usize) -> usize {
    of / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of so many running of so many started PDs, stores and TiDBs, with three replicas at most.
    fn told(counts: [(usize, usize); 3]) -> Option<String> {
        let [pd, tikv, tidb] = counts;
        let replicas = tikv.1.min(3);
        let count = |role, (running, started)| RoleCount { role, started, running };
        unserved(&[count(Role::Pd, pd), count(Role::TiKv, tikv), count(Role::TiDb, tidb)], replicas)
    }

    #[test]
    fn a_cluster_goes_on_as_long_as_clients_can_be_served() {
        for counts in [
            [(1, 1), (3, 3), (1, 1)],
            [(1, 1), (2, 3), (1, 1)],
            [(2, 3), (2, 3), (1, 2)],
            // Which regions of five stores have lost their majority is not known here.
            [(3, 5), (2, 5), (1, 4)],
        ] {
            assert_eq!(told(counts), None, "{counts:?}");
        }
    }

    #[test]
    fn the_role_without_enough_servers_is_named() {
        let one = |counts| told(counts).unwrap();
        let none = "no client can be served any more";
        assert_eq!(
            one([(0, 1), (3, 3), (1, 1)]),
            format!("{none}: of 1 pd, 0 run and 1 is needed")
        );
        assert_eq!(
            one([(1, 3), (3, 3), (1, 1)]),
            format!("{none}: of 3 pd, 1 runs and 2 are needed")
        );
        assert_eq!(
            one([(1, 1), (1, 3), (1, 1)]),
            format!("{none}: of 3 tikv, 1 runs and 2 are needed")
        );
        let both = "of 1 tikv, 0 run and 1 is needed; of 2 tidb, 0 run and 1 is needed";
        assert_eq!(one([(1, 1), (0, 1), (0, 2)]), format!("{none}: {both}"));
    }
}
