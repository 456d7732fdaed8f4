//! Requests of the data-plane thread to the scheduler, and its waits.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Priority among real-time threads: the middle of 1 to 99, above nothing that we know of.
const REALTIME_PRIORITY: libc::c_int = 50;

/// Lets the calling thread run before all ordinary ones (SCHED_FIFO). Its children are ordinary
/// again.
///
/// # Errors
/// When the caller has no right to it.
#[expect(unsafe_code, reason = "sched_setscheduler has no safe wrapper")]
pub fn be_realtime() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: REALTIME_PRIORITY };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the call reads the parameters, which outlive it; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })
}

/// Lets timers of the calling thread fire when they are due, not up to 50 us later.
#[expect(unsafe_code, reason = "prctl has no safe wrapper for this option")]
pub fn use_exact_timers() {
    // SAFETY: the option takes numbers only. It cannot fail for a value above zero.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// Which of the watched files are ready, by the numbers given to [`watch`]; waits as long as `most`
/// (`None`: without end).
///
/// # Errors
/// When the files cannot be waited for. A signal is no error: then none is ready.
#[expect(unsafe_code, reason = "epoll_pwait2 has no safe wrapper")]
pub fn wait(
    epoll: &OwnedFd,
    ready: &mut [libc::epoll_event],
    most: Option<Duration>,
) -> io::Result<usize> {
    let most = most.map(|most| libc::timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: i64::from(most.subsec_nanos()),
    });
    let limit = most.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the slice and the time outlive the call, and the kernel writes at most as many events
    // as the slice has.
    let found = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            ready.as_mut_ptr(),
            ready.len(),
            limit,
            0_usize,
            0_usize,
        )
    };
    match usize::try_from(found) {
        Ok(found) => Ok(found),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
