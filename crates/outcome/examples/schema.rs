//! Prints the JSON Schema of outcomes, from which the Python types are made (`scripts/outcome_types.py`).
#![expect(clippy::print_stdout, reason = "this program prints its result")]

use schemars::generate::SchemaSettings;
use tailrace_outcome::Outcome;

fn main() {
    // What is written has each member that is not left out.
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Outcome>();
    println!("{:#}", schema.as_value());
}
