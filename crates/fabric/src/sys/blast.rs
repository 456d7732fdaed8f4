//! Packet sockets that send the same frames over and over, from memory that they share with the
//! kernel. It was 22 % faster than `sendmmsg` for frames of 1000 bytes (docs/how-to/blast.md): the
//! kernel does not copy them.

use super::packet::{map, open_sender, set};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Frames of one call.
pub const BATCH_MAX: usize = 64;
/// Least slots of the shared memory.
const SLOTS_MIN: usize = 512;
/// Bytes of the kernel's header before a frame (linux/if_packet.h: `TPACKET_ALIGN(sizeof(struct
/// tpacket2_hdr))`).
const HEADER_BYTES: usize =
    size_of::<libc::tpacket2_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT);
/// Rings of the kernel consist of pages.
const PAGE_BYTES: usize = 4_096;
/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h), whose third and fourth say how many bytes
/// of the frame are copied.
const VIRTIO_BYTES: usize = 10;
const COPIED_AT: usize = 2;

/// How frames are handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Past the queue of the interface.
    pub is_direct: bool,
    /// Of the socket (0 to 7), by which a TAP of a lab chooses its queue.
    pub priority: u8,
    /// The kernel copies so many bytes of each frame when it takes it, which may then be written
    /// anew; 0 for none. The rest it only refers to, for as long as anyone has the frame.
    pub copied_bytes: u16,
}

/// Counts of frames that were handed to an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handed {
    /// Frames that it has taken.
    pub sent: usize,
    /// It had no room.
    pub refused: usize,
}

/// The result of a call. Without room in the socket nothing was refused: the frames wait for the
/// next call.
fn handed(result: isize) -> io::Result<Handed> {
    match usize::try_from(result) {
        Ok(sent) => Ok(Handed { sent, refused: 0 }),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENOBUFS) => {
                Ok(Handed { sent: 0, refused: 1 })
            }
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(Handed::default()),
            error => Err(error),
        },
    }
}

/// A socket that sends frames from memory that it shares with the kernel (`PACKET_TX_RING`,
/// TPACKET_V2).
#[derive(Debug)]
pub struct RingSender {
    socket: OwnedFd,
    ring: NonNull<u8>,
    slot_bytes: usize,
    slots: usize,
    /// The slot that is handed over next, and the first that the kernel has not given back.
    next: usize,
    oldest: usize,
    /// Slots that the kernel has.
    pending: usize,
    /// Bytes between the kernel's header and the frame.
    front_bytes: usize,
}

impl RingSender {
    /// By this interface of the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(interface: u32, way: Way, frames: &[Vec<u8>]) -> io::Result<RingSender> {
        let socket = open_sender(interface, way.is_direct)?;
        if way.priority > 0 {
            set(&socket, libc::SOL_SOCKET, libc::SO_PRIORITY, &libc::c_int::from(way.priority))?;
        }
        let front_bytes = if way.copied_bytes > 0 { VIRTIO_BYTES } else { 0 };
        set(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &libc::c_int::from(front_bytes > 0))?;
        let largest = frames.iter().map(Vec::len).max().unwrap_or(0);
        let slot_bytes = (HEADER_BYTES + front_bytes + largest).next_power_of_two();
        let block_bytes = slot_bytes.max(PAGE_BYTES);
        let slots = slots_for(frames.len(), block_bytes / slot_bytes);
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as libc::c_int),
        )?;
        let request = libc::tpacket_req {
            tp_block_size: block_bytes as u32,
            tp_block_nr: (slot_bytes * slots / block_bytes) as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: slots as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &request)?;
        let ring = map(&socket, slot_bytes * slots)?;
        let sender = RingSender {
            socket,
            ring,
            slot_bytes,
            slots,
            next: 0,
            oldest: 0,
            pending: 0,
            front_bytes,
        };
        sender.fill(frames, way.copied_bytes);
        Ok(sender)
    }

    /// Writes the frames into the slots, in turn.
    #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
    fn fill(&self, frames: &[Vec<u8>], copied_bytes: u16) {
        let mut front = [0; VIRTIO_BYTES];
        front[COPIED_AT..COPIED_AT + 2].copy_from_slice(&copied_bytes.to_ne_bytes());
        for (slot, frame) in (0..self.slots).zip(frames.iter().cycle()) {
            // SAFETY: the slot is within the ring, has room for the headers and the largest frame,
            // and is not the kernel's yet.
            unsafe {
                let header: *mut libc::tpacket2_hdr =
                    self.ring.as_ptr().add(slot * self.slot_bytes).cast();
                (*header).tp_len = (self.front_bytes + frame.len()) as u32;
                let bytes = self.ring.as_ptr().add(slot * self.slot_bytes + HEADER_BYTES);
                bytes.copy_from_nonoverlapping(front.as_ptr(), self.front_bytes);
                bytes.add(self.front_bytes).copy_from_nonoverlapping(frame.as_ptr(), frame.len());
            }
        }
    }

    /// Writes into the next `count` frames, and into those that were refused, before they are
    /// handed over. `write` gets the beginning of a frame of which the kernel copies so much, and
    /// whether it is a new one.
    #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
    pub fn rewrite(&mut self, count: usize, bytes: usize, mut write: impl FnMut(&mut [u8], bool)) {
        let new = count.min(self.slots - self.pending).min(BATCH_MAX);
        let refused = (0..self.pending)
            .take_while(|back| {
                self.status(self.back(back + 1)).load(Ordering::Acquire)
                    == libc::TP_STATUS_SEND_REQUEST
            })
            .count();
        for index in 0..refused + new {
            let slot = (self.next + self.slots - refused + index) % self.slots;
            // SAFETY: the bytes are within the slot, which is longer than its frame. The kernel
            // reads a slot only in a call of this thread, and copies these bytes then.
            let frame = unsafe {
                let start = self
                    .ring
                    .as_ptr()
                    .add(slot * self.slot_bytes + HEADER_BYTES + self.front_bytes);
                std::slice::from_raw_parts_mut(start, bytes)
            };
            write(frame, index >= refused);
        }
    }

    /// The slot so many before the next.
    fn back(&self, indices: usize) -> usize {
        (self.next + self.slots - indices) % self.slots
    }

    #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
    fn status(&self, slot: usize) -> &AtomicU32 {
        // SAFETY: the slot is within the ring, which lives as long as the value; a slot begins with
        // its status, is aligned to more than four bytes, and both sides change it atomically.
        unsafe { AtomicU32::from_ptr(self.ring.add(slot * self.slot_bytes).cast().as_ptr()) }
    }

    /// Hands over up to so many frames, and counts those that the kernel has given back since.
    ///
    /// # Errors
    /// The kernel's error, or that of a frame which it does not take.
    #[expect(unsafe_code, reason = "a call without bytes has no safe wrapper")]
    pub fn send(&mut self, count: usize) -> io::Result<Handed> {
        let free = self.slots - self.pending;
        for _ in 0..count.min(free).min(BATCH_MAX) {
            self.status(self.next).store(libc::TP_STATUS_SEND_REQUEST, Ordering::Release);
            self.next = (self.next + 1) % self.slots;
            self.pending += 1;
        }
        // SAFETY: the call has no bytes of ours.
        let result =
            unsafe { libc::send(self.socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT) };
        let refused = handed(result)?.refused;
        Ok(Handed { sent: self.take_back()?, refused })
    }

    /// Frames that the kernel is done with.
    fn take_back(&mut self) -> io::Result<usize> {
        let mut count = 0;
        while self.pending > 0 {
            match self.status(self.oldest).load(Ordering::Acquire) {
                libc::TP_STATUS_AVAILABLE => {}
                status if status & libc::TP_STATUS_WRONG_FORMAT != 0 => {
                    return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
                }
                _ => break,
            }
            self.oldest = (self.oldest + 1) % self.slots;
            self.pending -= 1;
            count += 1;
        }
        Ok(count)
    }

    /// Frames that were handed over and not given back.
    pub fn pending(&self) -> usize {
        self.pending
    }
}

/// Slots in which each frame stands equally often, so that the first follows the last, and which
/// fill their blocks.
fn slots_for(frames: usize, of_block: usize) -> usize {
    frames * SLOTS_MIN.div_ceil(frames).next_multiple_of(of_block)
}

impl Drop for RingSender {
    #[expect(unsafe_code, reason = "munmap has no safe wrapper")]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), self.slot_bytes * self.slots) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_all_frames_equally_often_and_fill_their_blocks() {
        for (frames, of_block, slots) in
            [(1, 2, 512), (3, 1, 513), (3, 32, 576), (512, 1, 512), (512, 64, 32_768)]
        {
            assert_eq!(slots_for(frames, of_block), slots, "{frames} frames");
        }
    }
}
