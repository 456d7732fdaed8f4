//! Prints the JSON Schema of outcomes, from which the Python types are made
//! (`scripts/crate_types.py`).
#![expect(clippy::print_stdout, reason = "this program prints its result")]

use schemars::generate::SchemaSettings;
use tailrace_outcome::{NetworkOutcome, Outcome, TrafficOutcome};

fn main() {
    // What is written has each member that is not left out.
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    // Parts of it, which their programs hand on by themselves.
    generator.subschema_for::<NetworkOutcome>();
    generator.subschema_for::<TrafficOutcome>();
    let schema = generator.into_root_schema_for::<Outcome>();
    println!("{:#}", schema.as_value());
}
