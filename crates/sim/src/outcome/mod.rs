//! What a trial leaves behind: one JSON document and five tables of columns.

mod cut_off;
mod deadlock;
mod ideal;
mod ports;
mod summary;
mod tables;

pub use ports::{Recorded, interface_summary, ports, switch_summaries};
pub use tables::{port_series, queue_depth};

use crate::world::World;
use serde_json::Value;
use std::time::Duration;
use tailrace_plan::Plan;

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
    /// `transactions`, `cut_off`, `port_series`, `workload_series` or `queue_depth`.
    pub name: &'static str,
    /// Name and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// Results of one trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    summary: Value,
    tables: Vec<Table>,
}

impl Outcome {
    /// The summary as JSON.
    pub fn to_json(&self) -> String {
        self.summary.to_string()
    }
    /// The summary as a value.
    pub fn summary(&self) -> &Value {
        &self.summary
    }
    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

pub(crate) fn gather(plan: &Plan, world: &World, wall: Duration) -> Outcome {
    let cut_off = cut_off::cut_off(world);
    Outcome { summary: summary::summary(plan, world, &cut_off, wall), tables: tables::tables(plan, world, &cut_off) }
}
