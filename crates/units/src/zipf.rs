//! Ranks that follow Zipf's law.

use crate::RandomStream;

/// Ranks from 1 to `ranks`, of which rank k is drawn in proportion to k to the power of minus
/// theta.
///
/// W. Hörmann and G. Derflinger: Rejection-inversion to generate variates from monotone discrete
/// distributions, 1996. A draw costs little more than one random number, whatever the number of
/// ranks.
#[derive(Clone, Debug)]
pub struct Zipf {
    ranks: u64,
    theta: f64,
    /// The integral of the density up to 3/2 less one, and to the end of the last rank.
    ends: [f64; 2],
    /// A draw closer to its rank than this is accepted at once.
    squeeze: f64,
}

impl Zipf {
    /// At least one rank, and theta in thousandths above 0.
    pub fn new(ranks: u64, theta_milli: u32) -> Zipf {
        assert!(ranks > 0 && theta_milli > 0, "there is a rank, and theta is above zero");
        let theta = f64::from(theta_milli) / 1e3;
        let mut zipf = Zipf { ranks, theta, ends: [0.0; 2], squeeze: 0.0 };
        zipf.ends = [zipf.integral(1.5) - 1.0, zipf.integral(ranks as f64 + 0.5)];
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank.
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        let [first, last] = self.ends;
        loop {
            let area = last + random.unit() * (first - last);
            let at = self.inverse(area);
            let rank = ((at + 0.5) as u64).clamp(1, self.ranks);
            let near = rank as f64;
            if near - at <= self.squeeze || area >= self.integral(near + 0.5) - self.density(near) {
                return rank;
            }
        }
    }

    fn density(&self, at: f64) -> f64 {
        libm::exp(-self.theta * libm::log(at))
    }

    fn integral(&self, at: f64) -> f64 {
        let log = libm::log(at);
        let power = (1.0 - self.theta) * log;
        log * if power.abs() > NEAR_ZERO {
            libm::expm1(power) / power
        } else {
            1.0 + power * 0.5 * (1.0 + power / 3.0)
        }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = (area * (1.0 - self.theta)).max(-1.0);
        let root = if power.abs() > NEAR_ZERO {
            libm::log1p(power) / power
        } else {
            1.0 - power * (0.5 - power / 3.0)
        };
        libm::exp(root * area)
    }
}

/// Below this the first terms of the series are exact.
const NEAR_ZERO: f64 = 1e-8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_in_proportion_to_their_power() {
        for theta_milli in [500, 1000, 1200] {
            let zipf = Zipf::new(50, theta_milli);
            let mut random = RandomStream::new(7, "zipf");
            let draws = 200_000;
            let mut counts = [0_u32; 50];
            (0..draws).for_each(|_| counts[zipf.draw(&mut random) as usize - 1] += 1);
            let weight = |rank: usize| libm::pow(rank as f64, -f64::from(theta_milli) / 1e3);
            let whole: f64 = (1..=50).map(weight).sum();
            for rank in [1, 2, 3, 10, 50] {
                let expected = f64::from(draws) * weight(rank) / whole;
                let error = (f64::from(counts[rank - 1]) - expected).abs();
                assert!(
                    error < 5.0 * libm::sqrt(expected),
                    "theta {theta_milli}, rank {rank}: {} for {expected}",
                    counts[rank - 1]
                );
            }
        }
    }

    #[test]
    fn one_rank_is_always_drawn() {
        assert_eq!(Zipf::new(1, 1100).draw(&mut RandomStream::new(1, "zipf")), 1);
    }
}
