//! Results read back: values of the summary and columns of the tables.

use serde_json::Value;
use tailrace_sim::{Column, Outcome};

pub fn workload<'a>(outcome: &'a Outcome, name: &str) -> &'a Value {
    let all = outcome.summary()["workloads"].as_array().expect("a list");
    all.iter().find(|w| w["name"] == name).expect("this workload ran")
}

pub fn port<'a>(outcome: &'a Outcome, node: &str, towards: &str) -> &'a Value {
    let all = outcome.summary()["ports"].as_array().expect("a list");
    all.iter().find(|p| p["node"] == node && p["towards"] == towards).expect("this port exists")
}

/// Whole number at a path such as `conservation.dropped`.
pub fn count(value: &Value, path: &str) -> u64 {
    let found = path.split('.').fold(value, |at, key| &at[key]);
    found.as_u64().unwrap_or_else(|| panic!("{path} is a count in {value}"))
}

/// Number at a path such as `latency.mean_ps`.
pub fn number(value: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(value, |at, key| &at[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is a number in {value}"))
}

/// A column of whole numbers of one of the outcome's tables.
pub fn column(outcome: &Outcome, table: &str, name: &str) -> Vec<u64> {
    match values(outcome, table, name) {
        Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Column::U64(values) => values.clone(),
        Column::F64(_) => panic!("{table}.{name} has fractions"),
    }
}

/// A column of numbers with fractions.
pub fn fractions(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    match values(outcome, table, name) {
        Column::F64(values) => values.clone(),
        Column::U32(_) | Column::U64(_) => panic!("{table}.{name} has whole numbers"),
    }
}

fn values<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a Column {
    let table =
        outcome.tables().iter().find(|found| found.name == table).expect("this table exists");
    &table.columns.iter().find(|found| found.0 == name).expect("this column exists").1
}

/// Goodput of a workload, by its place in the plan, over `[from, until)` in bit/s. Both are bin
/// edges.
pub fn goodput_bps(outcome: &Outcome, workload: u64, from_ps: u64, until_ps: u64) -> f64 {
    let start = column(outcome, "workload_series", "start_ps");
    let owner = column(outcome, "workload_series", "workload");
    let bytes = column(outcome, "workload_series", "goodput_bytes");
    let within = (0..start.len())
        .filter(|&row| owner[row] == workload && (from_ps..until_ps).contains(&start[row]));
    within.map(|row| bytes[row]).sum::<u64>() as f64 * 8e12 / (until_ps - from_ps) as f64
}

pub fn host_summary<'a>(outcome: &'a Outcome, name: &str) -> &'a Value {
    let hosts = outcome.summary()["hosts"].as_array().expect("a list");
    hosts.iter().find(|host| host["name"] == name).expect("this host exists")
}
