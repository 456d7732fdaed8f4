//! The threads of a trial, which end together.

use crate::failure::{self, Panic};
use std::{panic, thread};

/// The panic of a thread that ends because another one has panicked: it is not reported.
struct AnotherHasFailed;

/// Ends a thread because another one has panicked.
pub(super) fn another_has_failed() -> ! {
    panic::resume_unwind(Box::new(AnotherHasFailed))
}

/// Runs the first closure here and each of the others on a thread of its own, and returns their
/// results.
///
/// # Panics
/// When one of them panics, as it did: with the same message and source location.
pub(super) fn together<T: Send>(mut runs: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let is_caught = failure::is_caught();
    let first = runs.remove(0);
    let results: Vec<Result<T, Panic>> = thread::scope(|scope| {
        let others: Vec<_> = runs
            .into_iter()
            .map(|run| scope.spawn(move || failure::on_a_thread(is_caught, run)))
            .collect();
        let first = failure::on_a_thread(is_caught, first);
        let others =
            others.into_iter().map(|other| other.join().expect("panics are caught on the thread"));
        std::iter::once(first).chain(others).collect()
    });
    let (mut all, mut reason) = (Vec::with_capacity(results.len()), None::<Panic>);
    for result in results {
        match result {
            Ok(value) => all.push(value),
            Err(panic) if reason.as_ref().is_none_or(Panic::is::<AnotherHasFailed>) => {
                reason = Some(panic)
            }
            Err(_) => {}
        }
    }
    match reason {
        None => all,
        Some(panic) => panic.go_on(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::barrier::{Barrier, WindowReport};
    use super::together;
    use crate::failure::{caught, install_hook};

    #[test]
    fn the_panic_of_any_part_keeps_its_message_and_location() {
        install_hook();
        for failing in 0..3 {
            let barrier = Barrier::new(3);
            let barrier = &barrier;
            let part = |number: usize| {
                move || {
                    let _guard = barrier.guard();
                    for window in 0..9 {
                        barrier.meet(number, window, WindowReport::NOTHING);
                        assert!((number, window) != (failing, 4), "part {number} is broken");
                    }
                }
            };
            let place = line!() - 4;
            let failed = caught(|| together((0..3).map(part).collect()));
            assert_eq!(failed, Err(format!("part {failing} is broken (at {}:{place})", file!())));
        }
        assert_eq!(
            caught(|| together((0..3).map(|part| move || part).collect())),
            Ok(vec![0, 1, 2])
        );
    }
}
