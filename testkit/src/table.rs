//! Text in aligned columns.

use std::fmt;

/// Rows of cells; each column is as wide as its widest cell.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a row of headings, or without one when `headings` is empty.
    pub fn new(headings: &[&str]) -> Self {
        let headings: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
        Self { rows: if headings.is_empty() { Vec::new() } else { vec![headings] } }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width_of = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        (0..columns).map(|column| width_of(column).unwrap_or_default()).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:<width$}  "));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_do_not_end_in_blanks() {
        let mut table = Table::new(&["check", "time"]);
        table.row(["format".to_owned(), "1 s".to_owned()]);
        table.row(["größer".to_owned(), String::new()]);
        assert_eq!(table.to_string(), "check   time\nformat  1 s\ngrößer\n");
    }
}
