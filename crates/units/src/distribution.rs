//! Named distributions of non-negative integers (picoseconds or bytes), drawn from a
//! [`RandomStream`].

use crate::RandomStream;

/// A distribution of non-negative whole numbers. The unit is the user's: picoseconds for spans,
/// bytes for sizes.
#[derive(Clone, PartialEq, Debug)]
pub enum Distribution {
    /// Always the same number.
    Constant(u64),
    /// Every number from `low` to `high` is equally likely.
    Uniform {
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
    },
    /// Exponential with this mean: the gaps of a Poisson process.
    Exponential {
        /// Mean.
        mean: u64,
    },
    /// Normal, cut off below at zero.
    Normal {
        /// Mean before the cut.
        mean: u64,
        /// Standard deviation before the cut.
        deviation: u64,
    },
    /// Log-normal with this median; `sigma_milli` is a thousand times the standard deviation of the
    /// logarithm.
    LogNormal {
        /// Median.
        median: u64,
        /// 1000 x sigma.
        sigma_milli: u32,
    },
    /// Erlang: the sum of `shape` exponentials, together with this mean. Shape 1 is exponential,
    /// large shapes are narrow.
    Erlang {
        /// Mean of the sum.
        mean: u64,
        /// Number of exponentials, 1 to 1000.
        shape: u32,
    },
    /// Piecewise linear between `(value, cumulative probability in parts per billion)`, as
    /// flow-size distributions are published.
    Cumulative(Vec<(u64, u32)>),
}

/// Why a list of points is not a cumulative distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DistributionError {
    /// No points.
    Empty,
    /// A value or probability is below the one before.
    NotRising,
    /// The last probability is not one.
    DoesNotEndAtOne,
}

/// One, in parts per billion.
const ONE_PPB: u32 = 1_000_000_000;

impl Distribution {
    /// A cumulative distribution from rising `(value, parts per billion)` points that end at 1 000
    /// 000 000.
    ///
    /// # Errors
    /// When the points are empty, fall, or do not end at one.
    pub fn from_points(points: Vec<(u64, u32)>) -> Result<Distribution, DistributionError> {
        let last = points.last().ok_or(DistributionError::Empty)?;
        if last.1 != ONE_PPB {
            return Err(DistributionError::DoesNotEndAtOne);
        }
        if points.windows(2).any(|w| w[1].0 < w[0].0 || w[1].1 < w[0].1) {
            return Err(DistributionError::NotRising);
        }
        Ok(Distribution::Cumulative(points))
    }

    /// One draw.
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Uniform { low, high } => low + stream.below(high - low + 1),
            Distribution::Exponential { mean } => exponential(*mean as f64, stream) as u64,
            Distribution::Normal { mean, deviation } => {
                (*mean as f64 + *deviation as f64 * standard_normal(stream)).max(0.0) as u64
            }
            Distribution::LogNormal { median, sigma_milli } => {
                (*median as f64
                    * libm::exp(f64::from(*sigma_milli) * 1e-3 * standard_normal(stream)))
                    as u64
            }
            Distribution::Erlang { mean, shape } => {
                let part = *mean as f64 / f64::from(*shape);
                (0..*shape).map(|_| exponential(part, stream)).sum::<f64>() as u64
            }
            Distribution::Cumulative(points) => {
                interpolate(points, stream.below(u64::from(ONE_PPB)) as u32)
            }
        }
    }

    /// The expected value (for the cut normal, the mean before the cut).
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant(value) => *value as f64,
            Distribution::Uniform { low, high } => (*low as f64 + *high as f64) / 2.0,
            Distribution::Exponential { mean }
            | Distribution::Normal { mean, .. }
            | Distribution::Erlang { mean, .. } => *mean as f64,
            Distribution::LogNormal { median, sigma_milli } => {
                let sigma = f64::from(*sigma_milli) * 1e-3;
                *median as f64 * libm::exp(sigma * sigma / 2.0)
            }
            Distribution::Cumulative(points) => {
                let mut sum = points[0].0 as f64 * f64::from(points[0].1);
                for w in points.windows(2) {
                    sum += (w[0].0 as f64 + w[1].0 as f64) / 2.0 * f64::from(w[1].1 - w[0].1);
                }
                sum / f64::from(ONE_PPB)
            }
        }
    }
}

fn exponential(mean: f64, stream: &mut RandomStream) -> f64 {
    -libm::log(stream.unit()) * mean
}

/// Box and Muller's transform; the second value of the pair is not kept, so that a draw always
/// costs two numbers.
fn standard_normal(stream: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit())
}

fn interpolate(points: &[(u64, u32)], at: u32) -> u64 {
    let above = points.partition_point(|p| p.1 <= at).min(points.len() - 1);
    let (value, p) = points[above];
    if above == 0 {
        return value;
    }
    let (value_below, p_below) = points[above - 1];
    let into = u128::from(at - p_below) * u128::from(value - value_below) / u128::from(p - p_below);
    value_below + into as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(distribution: &Distribution) -> f64 {
        let mut stream = RandomStream::new(3, "test");
        let n = 200_000;
        (0..n).map(|_| distribution.draw(&mut stream) as f64).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn the_mean_of_many_draws_is_the_mean_of_the_distribution() {
        let web_search =
            vec![(0, 0), (10_000, 150_000_000), (1_000_000, 700_000_000), (30_000_000, ONE_PPB)];
        for distribution in [
            Distribution::Uniform { low: 10_000, high: 30_000 },
            Distribution::Exponential { mean: 5_000_000 },
            Distribution::Normal { mean: 9_000_000, deviation: 1_000_000 },
            Distribution::LogNormal { median: 1_000_000, sigma_milli: 500 },
            Distribution::Erlang { mean: 8_000_000, shape: 4 },
            Distribution::from_points(web_search).expect("rising to one"),
        ] {
            let error = mean_of(&distribution) / distribution.mean() - 1.0;
            assert!(error.abs() < 0.02, "{distribution:?} is off by {error}");
        }
    }

    #[test]
    fn points_that_fall_or_do_not_end_at_one_are_refused() {
        assert_eq!(Distribution::from_points(vec![]), Err(DistributionError::Empty));
        assert_eq!(
            Distribution::from_points(vec![(1, 5)]),
            Err(DistributionError::DoesNotEndAtOne)
        );
        assert_eq!(
            Distribution::from_points(vec![(9, 5), (1, ONE_PPB)]),
            Err(DistributionError::NotRising)
        );
    }
}
