//! Tables of columns, in which an engine returns its records.

use tailrace_outcome::{ColumnValues, TableColumns, Tables};

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Indices.
    U32(Vec<u32>),
    /// Counts and picoseconds.
    U64(Vec<u64>),
    /// Means.
    F64(Vec<f64>),
}

/// A table of columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `transactions`, `cut_off`, `port_series`, `workload_series` or `queue_depth` of a trial;
    /// others of other records.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}

impl From<&Column> for ColumnValues {
    fn from(column: &Column) -> ColumnValues {
        match column {
            Column::U32(values) => ColumnValues::U32(values.clone()),
            Column::U64(values) => ColumnValues::U64(values.clone()),
            Column::F64(values) => ColumnValues::F64(values.clone()),
        }
    }
}

impl Table {
    /// Its columns, as outcomes have them.
    fn to_columns(&self) -> TableColumns {
        self.columns.iter().map(|(name, column)| ((*name).to_owned(), column.into())).collect()
    }
}

/// Tables as outcomes have them: by name.
pub fn collect_tables(tables: &[Table]) -> Tables {
    tables.iter().map(|table| (table.name.to_owned(), table.to_columns())).collect()
}
