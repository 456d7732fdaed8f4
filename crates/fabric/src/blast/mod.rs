//! Sends the frames of a file by an interface, with several threads: see docs/how-to/blast.md.

mod order;
mod report;
mod sink;
mod thread;
mod work;

pub(crate) use order::BlastSpec;
pub(crate) use sink::{Catch, catch};

use crate::generator::MARKED_BYTES;
use crate::interface_counters;
use crate::sys::blast::{RingSender, Way};
use crate::sys::thread::use_exact_timers;
use report::Report;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use thread::{Counts, Job};
use work::{Lock, Worker};

/// Enters the namespace of the order and returns the number of its interface.
///
/// # Errors
/// For the user.
pub(crate) fn enter(order: &BlastSpec) -> Result<u32, String> {
    let refusal = (!order.is_machine_allowed)
        .then_some("frames could leave it (hint: --yes sends all the same)");
    crate::namespace_interface::enter(order.namespace.as_deref(), &order.interface, refusal)
}

/// Sends one round of frames. `is_over`: it ends early.
///
/// # Errors
/// For the user.
pub(crate) fn run(
    order: &BlastSpec,
    interface: u32,
    frames: &[Vec<u8>],
    is_over: &AtomicBool,
) -> Result<Report, String> {
    let before = interface_counters::counters(&order.interface)?;
    let gate = Barrier::new(order.threads);
    let lock = Lock::default();
    let workers = Worker::for_threads(order)?;
    let results: Vec<io::Result<Counts>> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(number, worker)| {
                let (gate, lock) = (&gate, &lock);
                scope.spawn(move || {
                    use_exact_timers();
                    let sender = RingSender::open(interface, way(order), frames);
                    gate.wait(); // also where it failed: the others wait for it
                    let job = Job { order, number, lock, is_over };
                    thread::send(&job, worker, sender?, Instant::now())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let counts = results
        .into_iter()
        .collect::<io::Result<Vec<_>>>()
        .map_err(|error| explained(&error, order))?;
    let after = interface_counters::counters(&order.interface)?;
    Ok(Report { frames: frames.to_vec(), counts, interface: after.since(&before) })
}

/// Frames with marks are written anew each time.
fn way(order: &BlastSpec) -> Way {
    let (priority, copied_bytes) =
        order.workload.as_ref().map_or((0, 0), |own| (own.priority, MARKED_BYTES as u16));
    Way { is_direct: !order.is_queued, priority, copied_bytes }
}

/// The kernel's error with a hint.
fn explained(error: &io::Error, order: &BlastSpec) -> String {
    let (name, hint) = (&order.interface, |hint: &str| format!(" (hint: {hint})"));
    let hint = match error.raw_os_error() {
        Some(libc::EPERM) => hint("sending frames needs root, or CAP_NET_RAW"),
        Some(libc::EMSGSIZE) => {
            hint("a frame is longer than the MTU of the interface and its header")
        }
        Some(libc::ENETDOWN) => hint("the interface is down"),
        Some(libc::ENXIO | libc::ENODEV) => hint("the interface has gone"),
        _ => String::new(),
    };
    format!("sending by {name}: {error}{hint}")
}
