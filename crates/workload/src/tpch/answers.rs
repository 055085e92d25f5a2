//! The answers to the validation parameters at scales 0.01, 0.1 and 1.
//!
//! DuckDB 1.2.2 computed them from the same rows (xtask/tpch/answers.py), and those at scale 1 agree with the answers that
//! come with dbgen (a test). A file has a line `Q1` and so on before the rows of each query, whose cells are separated by
//! vertical bars.

use std::io::Read as _;

use flate2::read::GzDecoder;

use super::parameters::QUERIES;

const FILES: [(f64, &[u8]); 3] = [
    (0.01, include_bytes!("answers/scale-0.01.gz")),
    (0.1, include_bytes!("answers/scale-0.1.gz")),
    (1.0, include_bytes!("answers/scale-1.gz")),
];

pub(super) type Rows = Vec<Vec<String>>;

#[derive(Debug)]
pub(super) struct Answers(Vec<Rows>);

impl Answers {
    pub(super) fn exist_at(scale: f64) -> bool {
        FILES.iter().any(|(of, _)| *of == scale)
    }

    /// The answers at this scale; `None` where there are none.
    pub(super) fn at(scale: f64) -> Option<Self> {
        let (_, packed) = FILES.iter().find(|(of, _)| *of == scale)?;
        let mut text = String::new();
        GzDecoder::new(*packed).read_to_string(&mut text).ok()?;
        let mut all: Vec<Rows> = Vec::with_capacity(QUERIES);
        for line in text.lines() {
            if is_heading(line, all.len() + 1) {
                all.push(Vec::new());
            } else {
                all.last_mut()?.push(line.split('|').map(str::to_owned).collect());
            }
        }
        (all.len() == QUERIES).then_some(Self(all))
    }

    /// The rows of query `number`, 1 to 22.
    pub(super) fn of(&self, number: usize) -> &Rows {
        &self.0[number - 1]
    }
}

fn is_heading(line: &str, number: usize) -> bool {
    line.strip_prefix('Q').is_some_and(|rest| rest == number.to_string())
}
