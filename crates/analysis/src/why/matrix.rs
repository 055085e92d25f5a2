//! Small square systems of linear equations.

/// The inverse of a square matrix, by rows, by Gauss and Jordan's elimination with the greatest pivot of a column; `None` when
/// it has none.
pub(super) fn inverse(mut rows: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = rows.len();
    for (at, row) in rows.iter_mut().enumerate() {
        row.extend((0..size).map(|column| if column == at { 1.0 } else { 0.0 }));
    }
    for at in 0..size {
        let by_size =
            |one: &usize, other: &usize| rows[*one][at].abs().total_cmp(&rows[*other][at].abs());
        let pivot = (at..size).max_by(by_size)?;
        rows.swap(at, pivot);
        let divisor = rows[at][at];
        if !divisor.is_normal() {
            return None;
        }
        rows[at].iter_mut().for_each(|value| *value /= divisor);
        let pivot_row = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = row[at];
            row.iter_mut().zip(&pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    Some(rows.into_iter().map(|row| row[size..].to_vec()).collect())
}

/// A matrix times a vector.
pub(super) fn times(rows: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    rows.iter().map(|row| product(row, vector)).collect()
}

pub(super) fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let matrix = vec![vec![0.0, 2.0, 1.0], vec![1.0, -1.0, 0.5], vec![4.0, 0.0, 3.0]];
        let vector = [3.0, -1.0, 2.0];
        let found = times(&inverse(matrix.clone()).unwrap(), &times(&matrix, &vector));
        found
            .iter()
            .zip(vector)
            .for_each(|(seen, expected)| assert!((seen - expected).abs() < 1e-12));
        assert_eq!(inverse(vec![vec![1.0, 2.0], vec![2.0, 4.0]]), None);
        assert_eq!(inverse(vec![vec![f64::NAN]]), None);
    }
}
