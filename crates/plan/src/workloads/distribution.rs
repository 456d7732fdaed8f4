//! Distributions of a plan, made sound.

use crate::resolve::require;
use crate::{PlanError, RawDistribution};
use tailrace_units::Distribution;

/// Most exponentials of one Erlang draw: each costs a random number.
pub(crate) const ERLANG_SHAPE_MAX: u32 = 1000;

pub(crate) fn distribution(raw: &RawDistribution, place: &str) -> Result<Distribution, PlanError> {
    Ok(match *raw {
        RawDistribution::Constant(value) => Distribution::Constant(value),
        RawDistribution::Uniform { low, high } => {
            require(low <= high && high < u64::MAX, place, "uniform: low is not above high")?;
            Distribution::Uniform { low, high }
        }
        RawDistribution::Exponential { mean } => Distribution::Exponential { mean },
        RawDistribution::Normal { mean, deviation } => Distribution::Normal { mean, deviation },
        RawDistribution::LogNormal { median, sigma_milli } => Distribution::LogNormal { median, sigma_milli },
        RawDistribution::Erlang { mean, shape } => {
            require((1..=ERLANG_SHAPE_MAX).contains(&shape), place, "erlang: shape is 1 to 1000")?;
            Distribution::Erlang { mean, shape }
        }
        RawDistribution::Cumulative(ref points) => Distribution::from_points(points.clone())
            .map_err(|error| PlanError::nonsense(place, format!("cumulative distribution: {error:?}")))?,
    })
}
