//! Sets of CPUs as users write them: `0`, `0-3`, `0,2-3`.

use std::collections::BTreeSet;
use std::fmt;

/// The CPUs that fit a set of the kernel's interface. Source: `CPU_SETSIZE`, CPU_SET(3).
const CPUS_MAX: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(BTreeSet<usize>);

impl CpuList {
    /// Reads a list such as `0,2-3`.
    ///
    /// # Errors
    /// What is wrong with the list, for the message of a problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut cpus = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("`{part}` counts backwards"));
            }
            if last >= CPUS_MAX {
                return Err(format!("CPU {last} is beyond the {CPUS_MAX} that fit a set"));
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }

    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not the number of a CPU"))
}

/// The shortest text that reads as the same set.
impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for cpu in self.numbers() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => runs.push((cpu, cpu)),
            }
        }
        let text = |(first, last): &(usize, usize)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        f.write_str(&runs.iter().map(text).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_cpus_ranges_and_lists_are_read_and_shown() {
        let cpus = |text: &str| {
            let list = CpuList::parse(text).unwrap();
            (list.to_string(), list.numbers().collect::<Vec<_>>())
        };
        assert_eq!(cpus("0"), ("0".to_owned(), vec![0]));
        assert_eq!(cpus("0-3"), ("0-3".to_owned(), vec![0, 1, 2, 3]));
        assert_eq!(cpus("7, 2-3,0,3-4"), ("0,2-4,7".to_owned(), vec![0, 2, 3, 4, 7]));
        assert_eq!(cpus("1023").1, [1023]);
    }

    #[test]
    fn an_invalid_cpu_set_is_refused() {
        let wrong = |text: &str| CpuList::parse(text).unwrap_err();
        assert_eq!(wrong(""), "`` is not the number of a CPU");
        assert_eq!(wrong("0,x"), "`x` is not the number of a CPU");
        assert_eq!(wrong("3-1"), "`3-1` counts backwards");
        assert_eq!(wrong("0-1024"), "CPU 1024 is beyond the 1024 that fit a set");
    }
}
