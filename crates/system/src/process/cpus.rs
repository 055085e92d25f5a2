//! Lists of CPUs as users write them: `0`, `0-3`, `0,2-3`.

use nix::sched::CpuSet;

/// Reads a list such as `0,2-3`.
///
/// # Errors
/// What is wrong with the list, for the `help` of a problem.
pub fn parse(text: &str) -> Result<CpuSet, String> {
    let mut set = CpuSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("`{part}` counts backwards"));
        }
        for cpu in first..=last {
            set.set(cpu).map_err(|_| {
                format!("CPU {cpu} is beyond the {} that fit a set", CpuSet::count())
            })?;
        }
    }
    Ok(set)
}

fn number(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not the number of a CPU"))
}

/// Where Linux lists the CPUs that are online, in the same form.
const ONLINE: &str = "/sys/devices/system/cpu/online";

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

    fn cpus(text: &str) -> Vec<usize> {
        let set = parse(text).unwrap();
        (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap()).collect()
    }

    #[test]
    fn single_cpus_ranges_and_lists_are_read() {
        assert_eq!(cpus("0"), [0]);
        assert_eq!(cpus("0-3"), [0, 1, 2, 3]);
        assert_eq!(cpus("0, 2-3,7"), [0, 2, 3, 7]);
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

    #[test]
    fn an_invalid_cpu_set_is_refused() {
        assert_eq!(parse("").unwrap_err(), "`` is not the number of a CPU");
        assert_eq!(parse("0,x").unwrap_err(), "`x` is not the number of a CPU");
        assert_eq!(parse("3-1").unwrap_err(), "`3-1` counts backwards");
        assert!(parse("0-99999").unwrap_err().contains("beyond the 1024"));
    }
}
