//! Prints the JSON Schema of plans, from which the Python types are made
//! (`scripts/crate_types.py`).
#![expect(clippy::print_stdout, reason = "this program prints its result")]

use schemars::generate::SchemaSettings;
use tailrace_plan::RawPlan;

fn main() {
    // What may be missing has its default.
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<RawPlan>();
    println!("{:#}", schema.as_value());
}
