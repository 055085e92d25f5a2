//! Plain tables for a terminal, with columns of the required width.

/// Lines of `rows` below `head`, columns two spaces apart.
pub(crate) fn render(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|title| title.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(head.to_vec());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            [vec!["a".to_owned(), "long cell".to_owned()], vec!["bcd".to_owned(), String::new()]];
        assert_eq!(render(&["x", "y"], &rows), "x    y\na    long cell\nbcd\n");
    }
}
