//! Tables of columns, in which an engine returns its records.

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
    /// `transactions`, `cut_off`, `port_series`, `workload_series` or `queue_depth` of a trial; others of other records.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}
