//! The largest of the values of a window, by three candidates (Kathleen Nichols' algorithm; Linux
//! `lib/win_minmax.c`).

#[derive(Clone, Copy, Default)]
struct Sample {
    at: u32,
    value: u32,
}

/// The largest value, and the largest of those after it, twice.
#[derive(Default)]
pub(super) struct WindowedMax {
    best: [Sample; 3],
}

impl WindowedMax {
    pub(super) fn value(&self) -> u32 {
        self.best[0].value
    }

    /// Takes a value in; `at` counts in the unit of `window`.
    pub(super) fn add(&mut self, window: u32, at: u32, value: u32) {
        let new = Sample { at, value };
        if value >= self.best[0].value || at.wrapping_sub(self.best[2].at) > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(window, new);
    }

    /// The best may leave the window; the others are to be spread over it.
    fn age(&mut self, window: u32, new: Sample) {
        let age = new.at.wrapping_sub(self.best[0].at);
        if age > window {
            for _ in 0..2 {
                if new.at.wrapping_sub(self.best[0].at) > window {
                    self.best = [self.best[1], self.best[2], new];
                }
            }
        } else if self.best[1].at == self.best[0].at && age > window / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].at == self.best[1].at && age > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition: never below the largest of the window, and never older than it.
    #[test]
    fn it_holds_the_largest_value_of_the_window() {
        let values: Vec<u32> = (0..400_u32).map(|i| 1000 + (i * 7919) % 613).collect();
        let mut max = WindowedMax::default();
        for (at, &value) in values.iter().enumerate() {
            max.add(10, at as u32, value);
            let window = &values[at.saturating_sub(10)..=at];
            let largest = *window.iter().max().expect("one at least");
            assert!(max.value() <= largest, "{at}: older than the window");
            let recent = *values[at.saturating_sub(2)..=at].iter().max().expect("one at least");
            assert!(max.value() >= recent, "{at}");
        }
    }

    #[test]
    fn a_maximum_leaves_when_its_window_is_over() {
        let mut max = WindowedMax::default();
        max.add(10, 0, 900);
        (1..=10).for_each(|at| max.add(10, at, 500));
        assert_eq!(max.value(), 900);
        max.add(10, 11, 500);
        assert_eq!(max.value(), 500);
    }
}
