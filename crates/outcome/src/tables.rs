//! Tables of columns beside an outcome, as programs hand them on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By name.
pub type Tables = BTreeMap<String, TableColumns>;

/// The columns of a table, by name; all are equally long.
pub type TableColumns = BTreeMap<String, ColumnValues>;

/// The values of a column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ColumnValues {
    /// Whole numbers of 32 bits.
    U32(Vec<u32>),
    /// Whole numbers.
    U64(Vec<u64>),
    /// Numbers.
    F64(Vec<f64>),
}
