//! A table as lines of text. One that is wider than the lines gets longer instead: first its heads and its sentences are
//! broken, then it becomes several tables, each with the columns that name the rows. No text is left out.

use unicode_width::UnicodeWidthStr;

use super::{Align, Table, pad};
use crate::wrap::{widest_word, wrap};

/// Spaces between two columns.
const GAP: usize = 2;
/// Text up to this width is a name, which stays on one line as long as there is another way.
const NAME_MAX: usize = 16;
/// A word is not broken into narrower pieces, as long as there is another way.
const PIECES_MIN: usize = 8;
/// The least width of any column: that of a wide character.
const LEAST: usize = 2;

/// A part of a table: some of its columns, each with its width.
type Part = Vec<(usize, usize)>;

#[derive(Clone, Copy)]
struct Widths {
    /// With all of its text on one line.
    whole: usize,
    /// With its head, and sentences, broken at spaces.
    wrapped: usize,
    /// With names broken at spaces too.
    words: usize,
    broken: usize,
}

impl Table {
    /// As text, aligned with spaces; with a width, no line is wider.
    pub fn text_within(&self, width: Option<usize>) -> String {
        let drawn = self.drawn_with_letters();
        let parts = drawn.parts(width);
        parts.iter().map(|part| drawn.text_of(part)).collect::<Vec<_>>().join("\n")
    }

    /// As text without those of the columns `less`, the first ones first, that have no room in the width.
    pub(crate) fn text_without(&self, less: &[&str], width: usize) -> String {
        let mut table = self.clone();
        for head in less {
            if table.is_within(width) {
                break;
            }
            table = table.without_columns(|known, _| known == *head);
        }
        table.text_within(Some(width))
    }

    fn is_within(&self, width: usize) -> bool {
        let drawn = self.drawn_with_letters();
        total(&(0..drawn.columns.len()).map(|at| (at, drawn.width(at))).collect()) <= width
    }

    /// The same in lines of any width.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.text_within(None)
    }

    fn parts(&self, width: Option<usize>) -> Vec<Part> {
        let widths: Vec<Widths> = (0..self.columns.len()).map(|at| self.widths(at)).collect();
        let whole: Part = widths.iter().map(|it| it.whole).enumerate().collect();
        match width {
            Some(width) if total(&whole) > width => {
                let parts = self.broken_up(&widths, width).into_iter();
                parts.map(|columns| fitted(&columns, &widths, width)).collect()
            }
            _ => vec![whole],
        }
    }

    fn widths(&self, column: usize) -> Widths {
        let head = widest_word(&self.columns[column].head);
        let widest = |of: fn(&str) -> usize| self.cells(column).map(of).fold(head, usize::max);
        let whole = self.width(column);
        match self.columns[column].align {
            Align::Right => {
                let wrapped = widest(UnicodeWidthStr::width);
                Widths { whole, wrapped, words: wrapped, broken: wrapped }
            }
            _ => {
                let words = widest(widest_word);
                let wrapped = widest(|cell| widest_word(cell).max(cell.width().min(NAME_MAX)));
                Widths { whole, wrapped, words, broken: words.min(PIECES_MIN) }
            }
        }
    }

    /// The columns of each part: those that name the rows, and the groups that fit beside them. A group goes to the first
    /// part with room for it; one that fits in no part is divided.
    fn broken_up(&self, widths: &[Widths], width: usize) -> Vec<Vec<usize>> {
        let groups = self.groups();
        let Some((names, groups)) = groups.split_first() else { return Vec::new() };
        let cost = |columns: &[usize], of: fn(&Widths) -> usize| -> usize {
            columns.iter().map(|at| of(&widths[*at]) + GAP).sum()
        };
        let wrapped = |columns: &[usize]| cost(columns, |it| it.wrapped);
        // Figures have a quarter of the width at least, however long the names are.
        let beside = |names| (width + GAP).saturating_sub(names).max(width / 4);
        let ample = beside(wrapped(names));
        let is_enough = groups.iter().all(|group| wrapped(group) <= ample);
        let room = if is_enough { ample } else { beside(cost(names, |it| it.words)) };
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        for group in groups {
            let pieces = divided(group, room, wrapped);
            let mut at = if pieces.len() == 1 { 0 } else { parts.len() - 1 };
            for piece in pieces {
                let is_full = |part: &Vec<usize>| wrapped(part) + wrapped(&piece) > room;
                while parts.get(at).is_some_and(|part| !part.is_empty() && is_full(part)) {
                    at += 1;
                }
                match parts.get_mut(at) {
                    Some(part) => part.extend(piece),
                    None => parts.push(piece),
                }
            }
        }
        parts.into_iter().map(|part| [names.clone(), part].concat()).collect()
    }

    fn groups(&self) -> Vec<Vec<usize>> {
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        let group = |at: &usize| self.columns[*at].group;
        if columns.first().map(group) == columns.last().map(group) {
            return singles(&columns);
        }
        columns.chunk_by(|one, next| group(one) == group(next)).map(<[usize]>::to_vec).collect()
    }

    fn text_of(&self, part: &Part) -> String {
        let mut heads: Vec<Vec<String>> =
            part.iter().map(|(at, width)| wrap(&self.columns[*at].head, *width)).collect();
        // Heads stand directly above the cells.
        let height = heads.iter().map(Vec::len).max().unwrap_or_default();
        for lines in &mut heads {
            let above = vec![String::new(); height - lines.len()];
            lines.splice(0..0, above);
        }
        let row = |row: &Vec<String>| {
            let cells = part.iter().map(|(at, width)| wrap(&row[*at], *width));
            self.lines(part, &cells.collect::<Vec<_>>())
        };
        std::iter::once(self.lines(part, &heads)).chain(self.rows.iter().map(row)).collect()
    }

    /// The lines of a row, whose cells have several.
    fn lines(&self, part: &Part, cells: &[Vec<String>]) -> String {
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |number: usize| {
            let padded = cells.iter().zip(part).map(|(lines, (at, width))| {
                let text = lines.get(number).map_or("", String::as_str);
                pad(text, self.columns[*at].align, *width)
            });
            let line = padded.collect::<Vec<_>>().join(&" ".repeat(GAP));
            format!("{}\n", line.trim_end())
        };
        (0..height).map(line).collect()
    }
}

/// A group in as few pieces as fit, of similar widths.
fn divided(group: &[usize], room: usize, cost: impl Fn(&[usize]) -> usize) -> Vec<Vec<usize>> {
    let within = |room: usize| {
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        for at in group {
            match pieces.last_mut() {
                Some(piece) if cost(piece) + cost(&[*at]) <= room => piece.push(*at),
                _ => pieces.push(vec![*at]),
            }
        }
        pieces
    };
    let fewest = within(room);
    let similar = (1..room).map(within).find(|pieces| pieces.len() == fewest.len());
    similar.unwrap_or(fewest)
}

fn singles(columns: &[usize]) -> Vec<Vec<usize>> {
    columns.iter().map(|at| vec![*at]).collect()
}

fn total(part: &Part) -> usize {
    let gaps = GAP * part.len().saturating_sub(1);
    part.iter().map(|(_, width)| width).sum::<usize>() + gaps
}

/// The columns of a part in a line of at most `width`: the widest gives way first, and no word is broken where broken lines
/// are enough.
fn fitted(columns: &[usize], widths: &[Widths], width: usize) -> Part {
    let mut part: Part = columns.iter().map(|at| (*at, widths[*at].whole)).collect();
    let least: [fn(&Widths) -> usize; 4] =
        [|it| it.wrapped, |it| it.words, |it| it.broken, |_| LEAST];
    for least in least {
        while total(&part) > width {
            let wide = part.iter_mut().filter(|(at, width)| *width > least(&widths[*at]));
            let Some((_, widest)) = wide.max_by_key(|(_, width)| *width) else { break };
            *widest -= 1;
        }
    }
    part
}

#[cfg(test)]
mod tests;
