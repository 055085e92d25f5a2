//! Sets of CPUs as people write them: `0`, `0-3`, `0,2-3`.

use nix::sched::CpuSet;

/// Reads a list such as `0,2-3`.
///
/// # Errors
/// What is wrong with it, for the `help` of a problem.
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
    fn what_is_no_set_is_refused_with_what_was_seen() {
        assert_eq!(parse("").unwrap_err(), "`` is not the number of a CPU");
        assert_eq!(parse("0,x").unwrap_err(), "`x` is not the number of a CPU");
        assert_eq!(parse("3-1").unwrap_err(), "`3-1` counts backwards");
        assert!(parse("0-99999").unwrap_err().contains("beyond the 1024"));
    }
}
