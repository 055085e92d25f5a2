//! Linear least squares with a few unknowns.

/// A column is a sum of those before it when they leave no more of its squared length than this part.
const DEPENDENT: f64 = 1e-15;

/// The coefficients of the sum of columns that is nearest to the values, by Householder's reflections. A column that
/// is a sum of those before it, or zero, is left out: it has none. So have all that there are not enough values for.
///
/// Source: A. S. Householder, Unitary triangularization of a nonsymmetric matrix, Journal of the ACM 5 (1958); G.
/// Golub, Numerical methods for solving linear least squares problems, Numerische Mathematik 7 (1965).
pub(crate) fn least_squares(mut columns: Vec<Vec<f64>>, mut values: Vec<f64>) -> Vec<Option<f64>> {
    let mut kept: Vec<usize> = Vec::new();
    for at in 0..columns.len() {
        let row = kept.len();
        // Reflections keep the length of a column.
        let (whole, rest) = (product(&columns[at], &columns[at]), &columns[at][row..]);
        let is_new = product(rest, rest) > DEPENDENT * whole;
        if !is_new {
            continue;
        }
        let normal = normal_to_axis(rest);
        let others = columns[at..].iter_mut().chain(std::iter::once(&mut values));
        others.for_each(|other| reflect(&mut other[row..], &normal));
        kept.push(at);
    }
    let mut found = vec![None; columns.len()];
    for (row, at) in kept.iter().enumerate().rev() {
        let later = kept[row + 1..].iter();
        let known: f64 = later.map(|it| columns[*it][row] * found[*it].unwrap_or(0.0)).sum();
        found[*at] = Some((values[row] - known) / columns[*at][row]);
    }
    found
}

/// The normal of the mirror that turns a vector to the first axis.
fn normal_to_axis(vector: &[f64]) -> Vec<f64> {
    let mut normal = vector.to_vec();
    // The sign for which nothing cancels.
    normal[0] += product(vector, vector).sqrt().copysign(vector[0]);
    normal
}

fn reflect(vector: &mut [f64], normal: &[f64]) {
    let part = 2.0 * product(vector, normal) / product(normal, normal);
    vector.iter_mut().zip(normal).for_each(|(value, normal)| *value -= part * normal);
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(seen: Option<f64>, expected: f64) {
        assert!(seen.is_some_and(|seen| (seen - expected).abs() < 1e-12), "{seen:?}: {expected}");
    }

    #[test]
    fn values_on_a_plane_give_its_coefficients() {
        let columns =
            vec![vec![1.0, 1.0, 1.0, 1.0], vec![1.0, 2.0, 4.0, 8.0], vec![3.0, -1.0, 0.5, 2.0]];
        let value = |at: usize| 7.0 * columns[0][at] - 2.0 * columns[1][at] + 0.25 * columns[2][at];
        let found = least_squares(columns.clone(), (0..4).map(value).collect());
        [7.0, -2.0, 0.25]
            .into_iter()
            .zip(found)
            .for_each(|(expected, seen)| assert_near(seen, expected));
    }

    /// Through 0, 1, 2 with values 1, 3, 4: the normal equations are 3 a + 3 b = 8 and 3 a + 5 b = 11.
    #[test]
    fn a_line_through_three_points_is_that_of_the_normal_equations() {
        let found = least_squares(vec![vec![1.0; 3], vec![0.0, 1.0, 2.0]], vec![1.0, 3.0, 4.0]);
        assert_near(found[0], 7.0 / 6.0);
        assert_near(found[1], 1.5);
    }

    #[test]
    fn columns_that_say_nothing_new_are_left_out() {
        let (one, other) = (vec![1.0, -2.0, 0.5, 3.0], vec![0.3, 0.1, -0.7, 1.9]);
        let sum: Vec<f64> = one.iter().zip(&other).map(|(one, other)| 3.0 * one - other).collect();
        let values = one.iter().zip(&other).map(|(one, other)| 2.0 * one + 5.0 * other).collect();
        let found = least_squares(vec![one.clone(), vec![0.0; 4], other, sum], values);
        assert_near(found[0], 2.0);
        assert_near(found[2], 5.0);
        assert_eq!((found[1], found[3]), (None, None));
        assert_eq!(
            least_squares(vec![vec![2.0], vec![1.0]], vec![6.0]),
            [Some(3.0), None],
            "one value"
        );
        assert_eq!(least_squares(vec![vec![f64::NAN]], vec![6.0]), [None]);
        assert_eq!(least_squares(vec![Vec::new()], Vec::new()), [None]);
    }
}
