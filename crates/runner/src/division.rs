//! How a load is divided among generators.

use measure::HostFacts;

/// How many event loops each generator has: as many as the plan says, or as suit its cores; those on one host share
/// its cores. All together they have no more than there are connections. `None` when there are too few connections
/// for each generator to have one.
pub(crate) fn divide(
    hosts: &[HostFacts],
    by_plan: Option<usize>,
    by_cores: impl Fn(usize) -> usize,
    connections: usize,
) -> Option<Vec<usize>> {
    let of_host = |host: &HostFacts| {
        let sharing = hosts.iter().filter(|other| other.shares_machine_with(host)).count();
        by_plan.unwrap_or_else(|| by_cores((host.cores as usize / sharing).max(1)).max(1))
    };
    let mut loops: Vec<usize> = hosts.iter().map(of_host).collect();
    while loops.iter().sum::<usize>() > connections {
        // The last of those with the most.
        let most = loops.iter_mut().max_by_key(|loops| **loops).filter(|most| **most > 1)?;
        *most -= 1;
    }
    Some(loops)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(
        hosts: &[(&str, u32)],
        by_plan: Option<usize>,
        connections: usize,
    ) -> Option<Vec<usize>> {
        let host = |(host, cores): &(&str, u32)| HostFacts {
            host: (*host).to_owned(),
            cores: *cores,
            ..HostFacts::default()
        };
        let hosts: Vec<HostFacts> = hosts.iter().map(host).collect();
        divide(&hosts, by_plan, |cores| cores, connections)
    }

    #[test]
    fn generators_of_one_host_share_its_cores() {
        assert_eq!(loops(&[("a", 8), ("b", 3)], None, 100), Some(vec![8, 3]));
        assert_eq!(
            loops(&[("a", 8), ("b", 3), ("a", 8), ("b", 3)], None, 100),
            Some(vec![4, 1, 4, 1])
        );
        assert_eq!(loops(&[("a", 2), ("a", 2), ("a", 2)], None, 100), Some(vec![1, 1, 1]));
    }

    #[test]
    fn the_plan_says_how_many_each_has() {
        assert_eq!(loops(&[("a", 8), ("a", 8)], Some(5), 100), Some(vec![5, 5]));
    }

    #[test]
    fn no_event_loop_is_without_a_connection() {
        assert_eq!(loops(&[("a", 4), ("b", 4)], None, 5), Some(vec![3, 2]));
        assert_eq!(loops(&[("a", 1), ("b", 4)], None, 3), Some(vec![1, 2]));
        assert_eq!(loops(&[("a", 4), ("b", 4)], None, 2), Some(vec![1, 1]));
        assert_eq!(loops(&[("a", 4), ("b", 4)], None, 1), None);
    }
}
