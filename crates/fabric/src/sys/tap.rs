//! TAP devices: an Ethernet port of a host whose wire is a file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// Opens a device in the network namespace of the calling thread, with as many queues as asked for
/// (1 to 8). Each queue is a file that does not block: a read takes one frame, a write gives one.
/// The device lives as long as its files.
///
/// # Errors
/// When the kernel has no TAP devices or the caller may not make one.
pub fn open(name: &str, queues: usize) -> io::Result<Vec<OwnedFd>> {
    let mut flags = libc::IFF_TAP | libc::IFF_NO_PI;
    if queues > 1 {
        flags |= libc::IFF_MULTI_QUEUE;
    }
    (0..queues).map(|_| open_queue(name, flags)).collect()
}

fn open_queue(name: &str, flags: libc::c_int) -> io::Result<OwnedFd> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")?;
    attach(&file, name, flags)?;
    Ok(file.into())
}

#[expect(unsafe_code, reason = "TUNSETIFF has no safe wrapper")]
fn attach(file: &File, name: &str, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: ifreq is plain data for which all zeroes is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    assert!(name.len() < request.ifr_name.len(), "an interface name has at most 15 bytes");
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the file is open, and the request outlives the call, which reads and writes an ifreq.
    check(unsafe {
        libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &raw mut request)
    })
}

/// Lets a program choose the queue of each frame that the host sends.
///
/// # Errors
/// When the kernel refuses the program.
#[expect(unsafe_code, reason = "TUNSETSTEERINGEBPF has no safe wrapper")]
pub fn steer(queue: &OwnedFd, program: &OwnedFd) -> io::Result<()> {
    /// `_IOR('T', 224, int)` of linux/if_tun.h.
    const TUNSETSTEERINGEBPF: libc::Ioctl = 0x8004_54e0_u32 as libc::Ioctl;
    let mut program: RawFd = program.as_raw_fd();
    // SAFETY: the file is open, and the call reads one int, which outlives it.
    check(unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETSTEERINGEBPF, &raw mut program) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
