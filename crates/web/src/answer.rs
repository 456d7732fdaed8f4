//! The answer to a page about a run.

use serde_json::{Map, Value, json};
use tailrace_record::{Column, Table};
use tailrace_sim::Outcome;

/// The tables from which a page draws.
const DRAWN: [&str; 2] = ["queue_depth", "port_series"];

/// `{"outcome": the trial's outcome, "tables": {name: {column: values}}}`.
pub(crate) fn text(outcome: &Outcome) -> String {
    let drawn = outcome.tables().iter().filter(|table| DRAWN.contains(&table.name));
    let tables: Map<String, Value> =
        drawn.map(|table| (table.name.to_owned(), columns(table))).collect();
    format!("{{\"outcome\":{},\"tables\":{}}}", outcome.json(), Value::Object(tables))
}

fn columns(table: &Table) -> Value {
    let values = |column: &Column| match column {
        Column::U32(values) => json!(values),
        Column::U64(values) => json!(values),
        Column::F64(values) => json!(values),
    };
    table
        .columns
        .iter()
        .map(|(name, column)| ((*name).to_owned(), values(column)))
        .collect::<Map<_, _>>()
        .into()
}
