//! Memory that another process maps too: every access is within it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// A memory file, mapped whole.
#[derive(Debug)]
pub struct SharedMemory {
    file: OwnedFd,
    start: NonNull<u8>,
    length: usize,
}

// The memory belongs to the value alone in this process.
#[expect(unsafe_code, reason = "a pointer to memory of its own")]
// SAFETY: nothing else here has the pointer, and the memory is mapped for all threads.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// This many bytes, all zero.
    ///
    /// # Errors
    /// The kernel's error.
    #[expect(
        unsafe_code,
        reason = "memfd_create(2), which not every C library has, and mmap have no safe wrappers"
    )]
    pub fn new(length: usize) -> io::Result<SharedMemory> {
        // SAFETY: the name outlives the call, and a descriptor that it returns is new.
        let number = unsafe {
            libc::syscall(libc::SYS_memfd_create, c"tailrace-generator".as_ptr(), libc::MFD_CLOEXEC)
        };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        let file = unsafe { OwnedFd::from_raw_fd(number as RawFd) };
        nix::unistd::ftruncate(&file, length as libc::off_t)?;
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a new mapping of a file of this length, where the kernel chooses.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("the kernel does not map page 0");
        Ok(SharedMemory { file, start, length })
    }

    /// The file, for the other process.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Writes bytes.
    #[inline]
    #[expect(unsafe_code, reason = "another process may write the same memory")]
    pub fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.length, "within the memory");
        // SAFETY: the range is within the mapping, and `bytes` is memory of this process alone.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len())
        };
    }

    /// Reads bytes.
    #[inline]
    #[expect(unsafe_code, reason = "another process may write the same memory")]
    pub fn read<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at + N <= self.length, "within the memory");
        let mut bytes = [0; N];
        // SAFETY: as for writing.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr().add(at), bytes.as_mut_ptr(), N)
        };
        bytes
    }

    /// Reads an index of a ring; data that the other side wrote before it are visible afterwards.
    #[inline]
    pub fn load(&self, at: usize) -> u16 {
        u16::from_le(self.index(at).load(Ordering::Acquire))
    }

    /// Writes an index of a ring; data written before it are visible to its reader.
    #[inline]
    pub fn store(&self, at: usize, value: u16) {
        self.index(at).store(value.to_le(), Ordering::Release);
    }

    #[inline]
    #[expect(unsafe_code, reason = "an atomic in shared memory")]
    fn index(&self, at: usize) -> &AtomicU16 {
        assert!(
            at.is_multiple_of(2) && at + 2 <= self.length,
            "an index is aligned and within the memory"
        );
        // SAFETY: within the mapping, which begins at a page; both sides change indices atomically.
        unsafe { AtomicU16::from_ptr(self.start.as_ptr().add(at).cast()) }
    }
}

impl Drop for SharedMemory {
    #[expect(unsafe_code, reason = "munmap has no safe wrapper")]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let memory = SharedMemory::new(4_096).expect("a page");
        memory.write(100, &[1, 2, 3]);
        assert_eq!(memory.read::<4>(99), [0, 1, 2, 3]);
        memory.store(200, 0x1234);
        assert_eq!((memory.load(200), memory.read::<2>(200)), (0x1234, [0x34, 0x12]));
    }

    #[test]
    #[should_panic(expected = "within the memory")]
    fn nothing_is_written_behind_the_end() {
        SharedMemory::new(4_096).expect("a page").write(4_095, &[1, 2]);
    }
}
