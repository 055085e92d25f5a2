//! Recorded trials of a real server: a line for each window, in a file that is kept as data.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use analysis::geometric_mean;
use anyhow::{Context, bail};

/// The names of the columns.
const HEAD: &str = "restart,window,start_s,throughput_per_s,p99_ms,client_cpu";
/// Before what the recording is of.
const REMARK: &str = "# ";

/// Windows of a server that was restarted again and again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Recording {
    /// What was recorded, in a line.
    pub(super) title: String,
    /// The windows of each restart, in the order in which they ran.
    pub(super) restarts: Vec<Vec<Window>>,
}

/// A window of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Its start, s after that of the recording.
    pub(super) start_s: f64,
    /// Transactions a second.
    pub(super) throughput_per_s: f64,
    pub(super) p99_ms: f64,
    /// CPU time of the client a second of the window; `None` when not known.
    pub(super) client_cpu: Option<f64>,
}

impl Recording {
    /// All recordings of a folder, in the order of their names.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(super) fn all_in(folder: &Path) -> anyhow::Result<Vec<(String, Self)>> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        let read = |file: PathBuf| -> anyhow::Result<(String, Self)> {
            let text = fs::read_to_string(&file)?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, Self::parse(&text).with_context(|| file.display().to_string())?))
        };
        files.into_iter().map(read).collect()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first line that is not one of a recording.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.lines().zip(1..);
        let title = lines.next().and_then(|(line, _)| line.strip_prefix(REMARK));
        let mut recording =
            Self { title: title.context("line 1 is no title")?.to_owned(), restarts: Vec::new() };
        if lines.next().is_none_or(|(line, _)| line != HEAD) {
            bail!("line 2 has other columns than {HEAD}");
        }
        for (line, number) in lines {
            recording.add(line).with_context(|| format!("line {number} is {line:?}"))?;
        }
        Ok(recording)
    }

    fn add(&mut self, line: &str) -> anyhow::Result<()> {
        let cells: Vec<&str> = line.split(',').collect();
        let [restart, window, start_s, throughput, p99, cpu] = cells[..] else {
            bail!("a line has six cells");
        };
        let window = (restart.parse::<usize>()?, window.parse::<usize>()?);
        let found = Window {
            start_s: start_s.parse()?,
            throughput_per_s: throughput.parse()?,
            p99_ms: p99.parse()?,
            client_cpu: if cpu.is_empty() { None } else { Some(cpu.parse()?) },
        };
        if window == (self.restarts.len() + 1, 1) {
            self.restarts.push(Vec::new());
        }
        match self.restarts.last_mut() {
            Some(last) if window.1 == last.len() + 1 => last.push(found),
            _ => bail!("restarts and windows are counted from 1"),
        }
        Ok(())
    }

    /// The text of its file.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{REMARK}{}\n{HEAD}\n", self.title);
        for (windows, restart) in self.restarts.iter().zip(1..) {
            for (it, window) in windows.iter().zip(1..) {
                let cpu = it.client_cpu.map_or(String::new(), |cpu| format!("{cpu:.3}"));
                let Window { start_s, throughput_per_s, p99_ms, .. } = it;
                // Writing to a text never fails.
                let _ = writeln!(
                    text,
                    "{restart},{window},{start_s:.1},{throughput_per_s:.1},{p99_ms:.3},{cpu}"
                );
            }
        }
        text
    }

    /// Throughput and p99 of each restart: the geometric means over its windows.
    pub(super) fn figures(&self) -> [(&'static str, Vec<f64>); 2] {
        let of = |figure: fn(&Window) -> f64| -> Vec<f64> {
            let mean = |windows: &Vec<Window>| {
                geometric_mean(&windows.iter().map(figure).collect::<Vec<_>>())
            };
            self.restarts.iter().filter_map(mean).filter(|mean| *mean > 0.0).collect()
        };
        [("throughput", of(|it| it.throughput_per_s)), ("p99", of(|it| it.p99_ms))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_back() {
        let window = |start_s, throughput_per_s| Window {
            start_s,
            throughput_per_s,
            p99_ms: 2.5,
            client_cpu: (start_s > 1.0).then_some(0.25),
        };
        let restarts = vec![vec![window(0.0, 100.0), window(2.0, 400.0)], vec![window(9.5, 90.0)]];
        let recording = Recording { title: "A server".to_owned(), restarts };
        assert_eq!(Recording::parse(&recording.text()).unwrap(), recording);
        let [(_, throughput), (_, p99)] = recording.figures();
        assert!((throughput[0] - 200.0).abs() < 1e-9 && (throughput[1] - 90.0).abs() < 1e-9);
        assert!((p99[0] - 2.5).abs() < 1e-9);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let told = |lines: &str| {
            let text = format!("# x\n{HEAD}\n{lines}");
            format!("{:#}", Recording::parse(&text).unwrap_err())
        };
        assert!(told("1,1,0,5,1,\n1,3,0,5,1,\n").starts_with("line 4 is \"1,3,0,5,1,\": restarts"));
        assert!(told("2,1,0,5,1,\n").starts_with("line 3"));
        assert!(told("1,1,0,5,1\n").contains("six cells"));
        assert!(told("1,1,0,x,1,\n").starts_with("line 3"));
        assert!(Recording::parse("").is_err());
        assert!(Recording::parse("# x\na,b\n").is_err());
    }
}
