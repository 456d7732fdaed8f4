//! Offloads: tasks that an interface leaves to hardware that it does not have, such as checksums
//! and the cutting of frames.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

/// Joining of received frames (ETHTOOL_SGRO of linux/ethtool.h).
const JOINING: u32 = 0x2c;
/// Features that are switched off, in this order: cutting by the interface, cutting late, scattered
/// memory, checksums of sent frames, joining of received frames.
const OFF: [u32; 5] = [0x1f, 0x24, 0x19, 0x17, JOINING];

/// struct ethtool_value.
#[repr(C)]
struct Setting {
    command: u32,
    value: u32,
}

/// Lets an interface of the calling thread's network namespace send every frame as it will be
/// received.
///
/// # Errors
/// The kernel's error.
pub fn switch_off(interface: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    OFF.iter().try_for_each(|&command| set(&socket, interface, Setting { command, value: 0 }))
}

/// Lets an interface hand up every frame by itself (generic receive offload is off).
///
/// # Errors
/// The kernel's error.
pub fn switch_off_joining(interface: &str) -> io::Result<()> {
    set(&UnixDatagram::unbound()?, interface, Setting { command: JOINING, value: 0 })
}

#[expect(unsafe_code, reason = "SIOCETHTOOL has no safe wrapper")]
fn set(socket: &UnixDatagram, interface: &str, mut setting: Setting) -> io::Result<()> {
    // SAFETY: ifreq is plain data for which all zeroes is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    assert!(interface.len() < request.ifr_name.len(), "an interface name has at most 15 bytes");
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut setting).cast();
    // SAFETY: the socket is open; the request and the setting that it points to outlive the call.
    let result = unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as libc::Ioctl, &raw mut request)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
