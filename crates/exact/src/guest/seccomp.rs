//! No randomness from outside: a guest's kernel asks for it by getrandom(2), and goes on without
//! when there is none.

use std::io;

/// Classic BPF (linux/filter.h, linux/bpf_common.h).
const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
/// seccomp(2).
const RET_ALLOW: u32 = 0x7FFF_0000;
const RET_ERRNO: u32 = 0x0005_0000;

/// From now on getrandom(2) fails in the calling process and in all that it starts.
///
/// # Errors
/// When the kernel has no such filters.
#[expect(unsafe_code, reason = "prctl has no safe wrapper for filters")]
pub fn deny_randomness() -> io::Result<()> {
    let step = |code: u16, jt: u8, jf: u8, k: u32| libc::sock_filter { code, jt, jf, k };
    // The number of the system call is the first word of struct seccomp_data.
    let mut filter = [
        step(LOAD_WORD, 0, 0, 0),
        step(JUMP_IF_EQUAL, 0, 1, libc::SYS_getrandom as u32),
        step(RETURN, 0, 0, RET_ERRNO | libc::ENOSYS as u32),
        step(RETURN, 0, 0, RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    nix::sys::prctl::set_no_new_privs()?;
    // SAFETY: the program and its filter outlive the call, which copies them.
    let result =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
