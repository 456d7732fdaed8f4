//! Children: their creation, their end, and their use of resources.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid};
use std::io;
use std::time::Duration;

/// A clock tick as programs see it: Linux's `USER_HZ` is 100 on every machine that it is built for
/// today (time(7)).
const MS_PER_TICK: u64 = 10;

/// How a child ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// A child that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Reaped {
    /// Its number.
    pub pid: Pid,
    /// How it ended.
    pub ending: Ending,
    /// Processor time in programs, its reaped children's included.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// Largest resident memory of one process.
    pub max_rss_bytes: u64,
    /// Times that one of its threads waited for something and another went on, ended threads and
    /// reaped children included.
    pub voluntary_switches: u64,
    /// Times that one of its threads had to leave its core.
    pub involuntary_switches: u64,
}

/// A child that has ended, if there is one. Does not wait.
#[expect(unsafe_code, reason = "wait4 has no safe wrapper")]
pub fn reap() -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers outlive the call.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
    if pid <= 0 {
        return None;
    }
    let is_signal = libc::WIFSIGNALED(status);
    let ending = if is_signal {
        Ending::Signal(libc::WTERMSIG(status))
    } else {
        Ending::Exit(libc::WEXITSTATUS(status))
    };
    let span = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    Some(Reaped {
        pid: Pid::from_raw(pid),
        ending,
        user: span(usage.ru_utime),
        system: span(usage.ru_stime),
        max_rss_bytes: usage.ru_maxrss as u64 * 1_024,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    })
}

/// Makes a child that goes on here. The caller has one thread.
///
/// # Errors
/// When there can be no more processes.
#[expect(unsafe_code, reason = "fork is safe only in a process with one thread")]
pub fn fork() -> nix::Result<ForkResult> {
    debug_assert_eq!(
        threads_of("self"),
        Some(1),
        "other threads would be gone with their locks held"
    );
    // SAFETY: there is one thread, so that the child finds no lock held by a thread that it does
    // not have.
    unsafe { nix::unistd::fork() }
}

/// The calling process gets this signal when the thread that made it ends.
///
/// # Errors
/// When the signal does not exist.
pub fn die_with_parent(signal: Signal) -> nix::Result<()> {
    nix::sys::prctl::set_pdeathsig(signal)
}

/// When a process was started, in clock ticks since the boot: with its number it names a process
/// for ever.
pub fn start_ticks(pid: &str) -> Option<u64> {
    stat_field(pid, 19)?.parse().ok()
}

/// Processor time of a process so far, in programs and in the kernel.
pub fn processor_time(pid: &str) -> Option<Duration> {
    let ticks = |field: usize| stat_field(pid, field)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(11)? + ticks(12)?) * MS_PER_TICK))
}

/// Whether the process with this number and start can still do anything: one that has ended and was
/// not waited for cannot.
pub fn is_alive(pid: &str, start: u64) -> bool {
    let has_ended = stat_field(pid, 0).is_none_or(|state| state == "Z" || state == "X"); // proc(5)
    !has_ended && start_ticks(pid) == Some(start)
}

fn threads_of(pid: &str) -> Option<u64> {
    stat_field(pid, 17)?.parse().ok()
}

/// A field of /proc/PID/stat behind the name, from 0 (the state) on; proc(5) numbers that 3.
fn stat_field(pid: &str, field: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(") ")?;
    behind_name.split_ascii_whitespace().nth(field).map(str::to_owned)
}

/// Actions of a new program before its first instruction, in the child: it joins namespaces and
/// groups, and gives up rights.
#[derive(Debug, Default)]
pub struct ChildSetup {
    /// The network namespace of its host.
    pub network: Option<i32>,
    /// Files of control groups to be joined by writing to them.
    pub groups: Vec<std::ffi::CString>,
    /// Cores of the machine that it may use; none for all.
    pub cores: Option<CpuSet>,
    /// Name of its host, for a UTS namespace of its own.
    pub hostname: Option<String>,
    /// User, group and further groups.
    pub user: Option<(u32, u32, Vec<u32>)>,
    /// Becomes user 1000 in a user namespace of its own: for programs that refuse to run as root
    /// where root is all there is.
    pub nests: bool,
}

/// User and group number inside a nested user namespace.
const NESTED_ID: u32 = 1_000;

/// Starts a program that first carries out its entry.
///
/// # Errors
/// When the program cannot be started, or a step of the entry fails.
#[expect(unsafe_code, reason = "pre_exec runs in the child between fork and exec")]
pub fn spawn(command: &mut std::process::Command, entry: ChildSetup) -> io::Result<Pid> {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure makes system calls on data that was prepared before the fork, and
    // allocates nothing.
    unsafe { command.pre_exec(move || enter(&entry)) };
    let child = command.spawn()?;
    Ok(Pid::from_raw(child.id() as i32))
}

#[expect(unsafe_code, reason = "system calls without wrappers that would allocate")]
fn enter(entry: &ChildSetup) -> io::Result<()> {
    let check =
        |result: libc::c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    for group in &entry.groups {
        write_file(group, b"0")?;
    }
    if let Some(cores) = &entry.cores {
        sched_setaffinity(Pid::from_raw(0), cores)?;
    }
    // SAFETY: each call takes numbers, or pointers to data that outlives it.
    unsafe {
        check(libc::setsid())?;
        if let Some(network) = entry.network {
            check(libc::setns(network, libc::CLONE_NEWNET))?;
        }
        if let Some(name) = &entry.hostname {
            check(libc::unshare(libc::CLONE_NEWUTS))?;
            check(libc::sethostname(name.as_ptr().cast(), name.len()))?;
        }
        if let Some((user, group, groups)) = &entry.user {
            check(libc::setgroups(groups.len(), groups.as_ptr()))?;
            check(libc::setresgid(*group, *group, *group))?;
            check(libc::setresuid(*user, *user, *user))?;
        }
        if entry.nests {
            check(libc::unshare(libc::CLONE_NEWUSER))?;
            write_file(c"/proc/self/setgroups", b"deny")?;
            write_file(c"/proc/self/uid_map", b"1000 0 1")?;
            write_file(c"/proc/self/gid_map", b"1000 0 1")?;
            check(libc::setresgid(NESTED_ID, NESTED_ID, NESTED_ID))?;
            check(libc::setresuid(NESTED_ID, NESTED_ID, NESTED_ID))?;
        }
    }
    Ok(())
}

/// A set of cores.
///
/// # Errors
/// The number of a core that no machine has.
pub fn core_set(cores: &[usize]) -> Result<CpuSet, usize> {
    let mut set = CpuSet::new();
    cores.iter().try_for_each(|&core| set.set(core).map_err(|_| core)).map(|()| set)
}

/// Writes a short text to a file that exists.
#[expect(unsafe_code, reason = "the standard library's files may allocate")]
fn write_file(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: path and text outlive the calls, and the descriptor is closed once.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let written = libc::write(fd, text.as_ptr().cast(), text.len());
        let error = io::Error::last_os_error();
        libc::close(fd);
        if written < 0 { Err(error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_was_not_waited_for_is_not_alive() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("it starts");
        let pid = child.id().to_string();
        let start = start_ticks(&pid).expect("it is there");
        assert!(is_alive(&pid, start) && !is_alive(&pid, start + 1));
        child.kill().expect("it is ours");
        while is_alive(&pid, start) {
            std::thread::yield_now(); // it ends by itself
        }
        assert_eq!(start_ticks(&pid), Some(start), "its number is kept");
        child.wait().expect("it is ours");
    }

    #[test]
    fn a_process_has_a_start() {
        let start = start_ticks("self").expect("this process exists");
        assert!(start > 0);
        assert_eq!(start_ticks(&std::process::id().to_string()), Some(start));
        assert_eq!(start_ticks("0"), None);
    }

    #[test]
    fn a_pinned_child_stays_on_its_cores() {
        let folder = std::env::temp_dir().join(format!("tailrace-pinned-{}", std::process::id()));
        let output = std::fs::File::create(&folder).expect("there is a place for scratch files");
        let mut command = std::process::Command::new("grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]).stdout(output);
        let cores = Some(core_set(&[0]).expect("every machine has a core 0"));
        let pid =
            spawn(&mut command, ChildSetup { cores, ..ChildSetup::default() }).expect("it starts");
        nix::sys::wait::waitpid(pid, None).expect("it is ours");
        let text = std::fs::read_to_string(&folder).expect("it was written");
        std::fs::remove_file(&folder).expect("it is ours");
        assert_eq!(text, "Cpus_allowed_list:\t0\n");
        assert_eq!(core_set(&[0, 1 << 20]).expect_err("no set has so many"), 1 << 20);
    }
}
