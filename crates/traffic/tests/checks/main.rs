//! The hosts of small plans over a network without surprises.

#[path = "../../../sim/tests/checks/plans.rs"]
#[expect(dead_code, reason = "plans are made as for the simulator's tests, which need more")]
mod plans;

mod blocks;
mod net;
mod outcome;
mod requests;
mod routes;
