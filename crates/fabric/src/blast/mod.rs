//! Sends the frames of a file by an interface, with several threads: see docs/how-to/blast.md.

mod order;
mod place;
mod report;
mod thread;

pub(crate) use order::Order;

use crate::sys::blast::RingSender;
use crate::sys::thread::use_exact_timers;
use report::Report;
use std::io;
use std::sync::Barrier;
use std::time::Instant;
use thread::Counts;

/// Enters the namespace of the order and returns the number of its interface.
///
/// # Errors
/// For the user.
pub(crate) fn enter(order: &Order) -> Result<u32, String> {
    place::enter(order)
}

/// Sends one round of frames.
///
/// # Errors
/// For the user.
pub(crate) fn run(order: &Order, interface: u32, frames: &[Vec<u8>]) -> Result<Report, String> {
    let before = place::counters(&order.interface)?;
    let gate = Barrier::new(order.threads);
    let results: Vec<io::Result<Counts>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..order.threads)
            .map(|number| {
                let gate = &gate;
                scope.spawn(move || {
                    use_exact_timers();
                    let sender = RingSender::open(interface, !order.is_queued, frames);
                    gate.wait(); // also where it failed: the others wait for it
                    thread::send(order, number, sender?, Instant::now())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let counts = results.into_iter().collect::<io::Result<Vec<_>>>().map_err(|error| explained(&error, order))?;
    let after = place::counters(&order.interface)?;
    Ok(Report { frames: frames.to_vec(), counts, interface: after.since(&before) })
}

/// The kernel's error with what to do about it.
fn explained(error: &io::Error, order: &Order) -> String {
    let (name, hint) = (&order.interface, |hint: &str| format!(" (hint: {hint})"));
    let hint = match error.raw_os_error() {
        Some(libc::EPERM) => hint("sending frames needs root, or CAP_NET_RAW"),
        Some(libc::EMSGSIZE) => hint("a frame is longer than the MTU of the interface and its header"),
        Some(libc::ENETDOWN) => hint("the interface is down"),
        Some(libc::ENXIO | libc::ENODEV) => hint("the interface has gone"),
        _ => String::new(),
    };
    format!("sending by {name}: {error}{hint}")
}
