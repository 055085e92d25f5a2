//! Sets of CPUs for the kernel, and whether this machine has them.

use nix::sched::CpuSet;
use plan::CpuList;

/// Reads a list such as `0,2-3`.
///
/// # Errors
/// What is wrong with the list, for the `help` of a problem.
pub fn parse(text: &str) -> Result<CpuSet, String> {
    Ok(cpu_set(&CpuList::parse(text)?))
}

pub(crate) fn cpu_set(cpus: &CpuList) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus.numbers() {
        // A list has no numbers beyond those that fit.
        let _ = set.set(cpu);
    }
    set
}

/// Where Linux lists the CPUs that are online, in the same form.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Refuses CPUs that this machine does not have, for the threads of the load.
///
/// # Errors
/// The first such CPU, with those that there are.
pub fn demand_cpus(cpus: &CpuList) -> anyhow::Result<()> {
    demand(&cpu_set(cpus))
}

/// Refuses a CPU that this machine does not have: the kernel would ignore it silently, and the record would name CPUs
/// that were never used.
pub(super) fn demand(cpus: &CpuSet) -> anyhow::Result<()> {
    // Without the list, the kernel checks the CPUs later.
    let Ok(online) = std::fs::read_to_string(ONLINE) else { return Ok(()) };
    let online = online.trim();
    match missing(cpus, online) {
        None => Ok(()),
        Some(cpu) => anyhow::bail!("there is no CPU {cpu}: this machine has {online}"),
    }
}

/// The first of `cpus` that is not in the list `online`.
fn missing(cpus: &CpuSet, online: &str) -> Option<usize> {
    let online = parse(online).ok()?;
    let is_in = |set: &CpuSet, cpu| set.is_set(cpu).unwrap_or(false);
    (0..CpuSet::count()).find(|cpu| is_in(cpus, *cpu) && !is_in(&online, *cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_set_for_the_kernel() {
        let set = parse("0, 2-3,1023").unwrap();
        let cpus = (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap());
        assert_eq!(cpus.collect::<Vec<_>>(), [0, 2, 3, 1023]);
        assert_eq!(parse("3-1").unwrap_err(), "`3-1` counts backwards");
    }

    #[test]
    fn a_missing_cpu_is_found() {
        let missing = |cpus: &str, online: &str| missing(&parse(cpus).unwrap(), online);
        assert_eq!(missing("0-1", "0-1"), None);
        assert_eq!(missing("0,3", "0,2-5"), None);
        assert_eq!(missing("0-3", "0-1"), Some(2));
        assert_eq!(missing("9", "0-7"), Some(9));
        assert_eq!(missing("9", "not told"), None);
    }
}
