//! Plans made in Rust; results are read back in `reading`.

mod reading;

pub use reading::*;

#[path = "../plans.rs"]
mod plans;

pub use plans::*;

use tailrace_plan::*;
use tailrace_sim::{ConnectionState, Control, Outcome, run, watch};
use tailrace_units::{Span, Time};

/// Random cases of an expensive property: `all` of them with `TAILRACE_TESTS=all` in the
/// environment, an eighth otherwise.
pub fn cases(all: u32) -> u32 {
    if std::env::var_os("TAILRACE_TESTS").is_some_and(|tests| tests == "all") {
        all
    } else {
        all / 8
    }
}

/// Runs a plan. Whatever it shows, its frames are conserved, and its outcome is of the type of all
/// outcomes.
pub fn simulate(raw: RawPlan) -> Outcome {
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    let outcome = run(&plan, &Control::default());
    let frames = |key: &str| count(outcome.summary(), &format!("conservation.{key}"));
    assert_eq!(
        frames("sent"),
        frames("delivered") + frames("dropped") + frames("in_network"),
        "every frame is somewhere"
    );
    assert_is_typed(&outcome);
    outcome
}

/// Asserts that the type of outcomes has each key that is written, and each that it needs is there.
fn assert_is_typed(outcome: &Outcome) {
    // Rows of long lists are lines.
    let text = outcome.json().replace(",\n  ", ",");
    let read: tailrace_outcome::Outcome =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(
        serde_json::to_string(&read).expect("an outcome is JSON"),
        text,
        "members in the order of their names"
    );
}

/// Runs a plan and samples its connections after every `period_ps`.
pub fn simulate_watched(
    raw: RawPlan,
    period_ps: u64,
    observe: impl FnMut(Time, &[ConnectionState]),
) -> Outcome {
    let plan = Plan::from_raw(raw).expect("the plan is sound");
    watch(&plan, &Control::default(), Span::from_ps(period_ps), observe)
}

/// Jain's index of fairness: 1 when all are equal.
pub fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares
        .iter()
        .fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    sum * sum / (shares.len() as f64 * squares)
}

/// Asserts that a figure lies in a band, ends included, and prints it for runs of the checks with
/// `--nocapture`.
#[track_caller]
pub fn within(what: &str, got: f64, band: (f64, f64)) {
    eprintln!("{what}: {got:.5} ({} to {})", band.0, band.1);
    assert!((band.0..=band.1).contains(&got), "{what} is {got}, not in {} to {}", band.0, band.1);
}
