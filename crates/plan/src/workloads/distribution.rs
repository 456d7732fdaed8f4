//! Validated distributions of a plan.

use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};
use tailrace_units::Distribution;

/// A distribution of spans (picoseconds) or sizes (bytes).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawDistribution {
    /// Always this.
    Constant(u64),
    /// Between the two.
    Uniform {
        /// Smallest.
        low: u64,
        /// Largest.
        high: u64,
    },
    /// Memoryless.
    Exponential {
        /// Mean.
        mean: u64,
    },
    /// Cut at zero.
    Normal {
        /// Mean.
        mean: u64,
        /// Standard deviation.
        deviation: u64,
    },
    /// Log-normal.
    LogNormal {
        /// Median.
        median: u64,
        /// 1000 x sigma.
        sigma_milli: u32,
    },
    /// Sum of exponentials.
    Erlang {
        /// Mean of the sum.
        mean: u64,
        /// How many.
        shape: u32,
    },
    /// `(value, parts per billion)`, rising to one billion.
    Cumulative(Vec<(u64, u32)>),
}

impl RawDistribution {
    /// The distribution itself; `place` is where it stands, for errors.
    ///
    /// # Errors
    /// When its parameters make no sense.
    pub fn resolved(&self, location: &str) -> Result<Distribution, PlanError> {
        distribution(self, location)
    }
}

/// Most exponentials of one Erlang draw: each costs a random number.
pub(crate) const ERLANG_SHAPE_MAX: u32 = 1000;

pub(crate) fn distribution(
    raw: &RawDistribution,
    location: &str,
) -> Result<Distribution, PlanError> {
    Ok(match *raw {
        RawDistribution::Constant(value) => Distribution::Constant(value),
        RawDistribution::Uniform { low, high } => {
            require(
                low <= high && high < u64::MAX,
                location,
                "uniform: low must not be above high",
            )?;
            Distribution::Uniform { low, high }
        }
        RawDistribution::Exponential { mean } => Distribution::Exponential { mean },
        RawDistribution::Normal { mean, deviation } => Distribution::Normal { mean, deviation },
        RawDistribution::LogNormal { median, sigma_milli } => {
            Distribution::LogNormal { median, sigma_milli }
        }
        RawDistribution::Erlang { mean, shape } => {
            require(
                (1..=ERLANG_SHAPE_MAX).contains(&shape),
                location,
                "erlang: shape must be 1 to 1000",
            )?;
            Distribution::Erlang { mean, shape }
        }
        RawDistribution::Cumulative(ref points) => Distribution::from_points(points.clone())
            .map_err(|error| {
                PlanError::nonsense(location, format!("cumulative distribution: {error:?}"))
            })?,
    })
}
