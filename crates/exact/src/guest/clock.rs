//! The clock of a guest, which the engine owns: a page of memory that both have
//! (arch/um/include/shared/clock_page.h, which is in crates/exact/kernel/clock-page.patch).
//!
//! One of the two runs at any moment, the one whose turn it is; it alone reads and writes the rest
//! of the page.

use nix::errno::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

/// The layout of the page, with the names of the header.
const VERSION: u32 = 1;
const BYTES: usize = 4_096;
const KICKS_MAX: u32 = 240;
const TURN: usize = 0;
const VERSION_AT: usize = 4;
const REASON: usize = 8;
const KICKED: usize = 12;
const REQUEST: usize = 16;
const TIME_OF_DAY: usize = 24;
const NOW: usize = 32;
const FREE_UNTIL: usize = 40;
const INTERRUPTS: usize = 48;
const REGISTERS: usize = 56;
const REGISTERS_ROOM: usize = 60;
const KICKS: usize = 64;
const KICK_BYTES: usize = 16;
const OWNER: u32 = 0;
const GUEST: u32 = 1;

/// Why it is the engine's turn. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The guest waits: it has something to do at this time.
    Waits(u64),
    /// It has asked its device something.
    Device,
    /// It has kicked a ring, and continues when that was handled.
    Kicked,
    /// It has ended.
    Off,
}

/// A guest's notification that a ring has entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kick {
    /// At this time.
    pub at: u64,
    /// Of this ring.
    pub ring: usize,
    /// The entries that it has put into the ring end here.
    pub index: u16,
}

/// Extended registers that a guest has seen, and the room that it has for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Bytes of those of its processor.
    pub bytes: u32,
    /// Bytes that it can keep.
    pub room_bytes: u32,
}

/// The page of a guest's clock.
#[derive(Debug)]
pub struct Clock {
    page: MmapRegion,
}

impl Clock {
    /// A page whose turn is the guest's, from time 0 to `free_until`; and the same for the guest.
    pub fn new(time_of_day: u64, free_until: u64) -> io::Result<(Clock, OwnedFd)> {
        let descriptor = memory_file()?;
        let file = File::from(descriptor.try_clone()?);
        file.set_len(BYTES as u64)?;
        let page =
            MmapRegion::from_file(FileOffset::new(file, 0), BYTES).map_err(io::Error::other)?;
        let clock = Clock { page };
        clock.set(TIME_OF_DAY, time_of_day);
        clock.set(FREE_UNTIL, free_until);
        clock.set(TURN, GUEST);
        Ok((clock, descriptor))
    }

    /// Whether the guest knows this page, once it has read it.
    pub fn is_known(&self) -> Option<bool> {
        let version: u32 = self.get(VERSION_AT);
        (version != 0).then_some(version == VERSION)
    }

    /// The guest's report on extended registers, once it knows this page.
    pub fn registers(&self) -> Registers {
        Registers { bytes: self.get(REGISTERS), room_bytes: self.get(REGISTERS_ROOM) }
    }

    /// Waits for the engine's turn; none when it does not come within `limit`.
    pub fn turn(&self, limit: Duration) -> Option<Reason> {
        if self.get::<u32>(TURN) != OWNER {
            wait(self.word(), GUEST, limit);
            if self.get::<u32>(TURN) != OWNER {
                return None;
            }
        }
        Some(match self.get::<u32>(REASON) {
            0 => Reason::Waits(self.get(REQUEST)),
            1 => Reason::Device,
            2 => Reason::Kicked,
            _ => Reason::Off,
        })
    }

    /// The kicks of the guest, in order; each once.
    pub fn take_kicks(&self, kicks: &mut Vec<Kick>) {
        kicks.clear();
        let count = self.get::<u32>(KICKED).min(KICKS_MAX) as usize;
        kicks.extend((0..count).map(|number| {
            let at = KICKS + number * KICK_BYTES;
            Kick {
                at: self.get(at),
                ring: self.get::<u32>(at + 8) as usize,
                index: self.get::<u32>(at + 12) as u16,
            }
        }));
        if count > 0 {
            self.set(KICKED, 0_u32);
        }
    }

    /// Lets the guest run from `now` on, and as long as it asks for nothing at or after `until`;
    /// these rings interrupt it.
    pub fn run(&self, now: u64, until: u64, interrupts: u64) {
        self.set(NOW, now);
        self.set(INTERRUPTS, interrupts);
        self.go_on(until);
    }

    /// Lets the guest go on after a question, before `until`.
    pub fn go_on(&self, until: u64) {
        self.set(FREE_UNTIL, until);
        self.set(TURN, GUEST);
        wake(self.word());
    }

    fn get<T: vm_memory::AtomicAccess>(&self, at: usize) -> T {
        self.page
            .as_volatile_slice()
            .load(at, Ordering::SeqCst)
            .expect("it is in the page, at its alignment")
    }

    fn set<T: vm_memory::AtomicAccess>(&self, at: usize, value: T) {
        self.page
            .as_volatile_slice()
            .store(value, at, Ordering::SeqCst)
            .expect("it is in the page, at its alignment");
    }

    fn word(&self) -> *const u32 {
        self.page.as_ptr().cast::<u32>().cast_const()
    }
}

/// A file in memory. The C library has a function for that since version 2.27, and wheels are for
/// older ones too.
#[expect(unsafe_code, reason = "memfd_create(2) has no wrapper that every C library has")]
fn memory_file() -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads a name that lasts for ever.
    let number =
        unsafe { libc::syscall(libc::SYS_memfd_create, c"clock".as_ptr(), libc::MFD_CLOEXEC) };
    let number = Errno::result(number).map_err(io::Error::from)? as i32;
    // SAFETY: the kernel has just made it, and nothing else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Waits until another process wakes up the processes that wait for this word, unless it has
/// another value.
#[expect(unsafe_code, reason = "futex(2) has no wrapper")]
fn wait(word: *const u32, value: u32, limit: Duration) {
    let limit =
        libc::timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    // SAFETY: the kernel reads a mapped word and a time of this function. Whatever ends the wait,
    // the caller reads the word.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, value, &raw const limit) };
}

#[expect(unsafe_code, reason = "futex(2) has no wrapper")]
fn wake(word: *const u32) {
    // SAFETY: the kernel uses the address only to find the waiting process.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// The engine's end and the guest's.
    fn pair() -> (Clock, Clock) {
        let (engine, descriptor) = Clock::new(77, 500).expect("a page");
        let page = MmapRegion::from_file(FileOffset::new(File::from(descriptor), 0), BYTES)
            .expect("a page");
        (engine, Clock { page })
    }

    #[test]
    fn turns_go_back_and_forth_between_two_threads() {
        let (engine, guest) = pair();
        assert_eq!(engine.is_known(), None);
        let other = std::thread::spawn(move || {
            assert_eq!((guest.get::<u64>(TIME_OF_DAY), guest.get::<u64>(FREE_UNTIL)), (77, 500));
            guest.set(VERSION_AT, VERSION);
            for request in 1..100_u64 {
                guest.set(REQUEST, request);
                guest.set(REASON, 0_u32);
                guest.set(TURN, OWNER);
                wake(guest.word());
                while guest.get::<u32>(TURN) == OWNER {
                    wait(guest.word(), OWNER, LIMIT);
                }
                assert_eq!(guest.get::<u64>(NOW), request);
                assert_eq!(
                    (guest.get::<u64>(FREE_UNTIL), guest.get::<u64>(INTERRUPTS)),
                    (request + 5, 2)
                );
            }
        });
        for request in 1..100 {
            assert_eq!(engine.turn(LIMIT), Some(Reason::Waits(request)));
            assert_eq!(engine.is_known(), Some(true));
            engine.run(request, request + 5, 2);
        }
        other.join().expect("it found what it expected");
        assert_eq!(engine.turn(Duration::from_millis(1)), None, "it is still the guest's turn");
    }

    #[test]
    fn kicks_are_reported_once_and_in_order() {
        let (engine, guest) = pair();
        let mut kicks = Vec::new();
        for (number, at) in [(0_usize, 40_u64), (1, 90)] {
            guest.set(KICKS + number * KICK_BYTES, at);
            guest.set(KICKS + number * KICK_BYTES + 8, 1_u32);
            guest.set(KICKS + number * KICK_BYTES + 12, 65_535_u32 + number as u32);
        }
        guest.set(KICKED, 2_u32);
        engine.take_kicks(&mut kicks);
        let expected =
            [Kick { at: 40, ring: 1, index: 65_535 }, Kick { at: 90, ring: 1, index: 0 }];
        assert_eq!(kicks, expected);
        engine.take_kicks(&mut kicks);
        assert_eq!(kicks, []);
    }

    #[test]
    fn a_page_of_another_layout_is_found() {
        let (engine, guest) = pair();
        guest.set(VERSION_AT, VERSION + 1);
        assert_eq!(engine.is_known(), Some(false));
    }
}
