//! Random numbers of a guest. Its kernel has none from outside; it would gather some from its
//! clock, which takes a second of virtual time in steps of 256 ns.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use tailrace_units::RandomStream;

/// random(4): _IOW('R', 3, int[2]).
const RNDADDENTROPY: libc::c_ulong = 0x4008_5203;
const WORDS: usize = 8;

/// `struct rand_pool_info` with its buffer.
#[repr(C)]
struct EntropyPool {
    entropy_bits: i32,
    buffer_bytes: i32,
    buffer: [u64; WORDS],
}

/// Seeds the kernel's random numbers: the same plan and host have the same.
#[expect(unsafe_code, reason = "the request has no safe wrapper")]
pub(super) fn seed(plan_seed: u64, host: &str) -> io::Result<()> {
    let mut stream = RandomStream::new(plan_seed, &format!("{host}/kernel"));
    let buffer = std::array::from_fn(|_| stream.bits());
    let bytes = size_of_val(&buffer) as i32;
    let pool = EntropyPool { entropy_bits: bytes * 8, buffer_bytes: bytes, buffer };
    let random = File::open("/dev/random")?;
    // SAFETY: the request reads a pool of the stated size, which outlives the call.
    let result = unsafe { libc::ioctl(random.as_raw_fd(), RNDADDENTROPY as _, &raw const pool) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
