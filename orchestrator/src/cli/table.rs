//! Text tables for people: columns aligned, numbers to the right.

use std::fmt;

/// Rows under a header.
#[derive(Debug, Default)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Table {
        Table { header: header.map(String::from).to_vec(), rows: Vec::new() }
    }

    /// Adds a row, of as many cells as the header.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.header.len());
        self.rows.push(cells.to_vec());
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| lines().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let numeric: Vec<bool> = (0..self.header.len())
            .map(|column| self.rows.iter().all(|row| is_number(&row[column])))
            .collect();
        for row in lines() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) = if numeric[column] { (pad.as_str(), "") } else { ("", pad.as_str()) };
                line.push_str(&format!("{before}{cell}{after}  "));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Whether a cell reads as a number, or stands for a missing one.
fn is_number(cell: &str) -> bool {
    cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()) && cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let mut table = Table::new(["name", "count"]);
        table.row(["gear".into(), "7".into()]);
        table.row(["carrier".into(), "1200".into()]);
        assert_eq!(table.to_string(), "name     count\ngear         7\ncarrier   1200\n");
    }
}
