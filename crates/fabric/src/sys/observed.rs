//! Frames that an interface sends and receives, in blocks of memory that the kernel fills
//! (`PACKET_RX_RING`, TPACKET_V3).

use super::packet::{check, keep_only, map, open_socket, receive_all, set};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Of a block, and how many there are: 64 MiB, 200 000 frames of 256 bytes.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 64;
const RING_BYTES: usize = BLOCK_BYTES * BLOCKS;
/// The kernel hands over a block that is not full after this time.
pub const HANDED_OVER_MS: u32 = 20;
const NS_PER_S: u64 = 1_000_000_000;
/// linux/if_packet.h: the address of the link layer stands behind the header of a frame.
const HEADER_BYTES: usize =
    size_of::<libc::tpacket3_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT);

/// A frame as the kernel has seen it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// When (CLOCK_REALTIME).
    pub at_ns: u64,
    /// Its first bytes, without a tag that the kernel has taken out.
    pub bytes: &'a [u8],
    /// Its whole length, without that tag.
    pub wire_bytes: u32,
    /// The interface sends it.
    pub is_outbound: bool,
    /// The tag that the kernel has taken out: its type and its control information.
    pub tag: Option<(u16, u16)>,
}

/// A socket that sees all frames of an interface.
#[derive(Debug)]
pub struct Observer {
    socket: OwnedFd,
    ring: NonNull<u8>,
    next: usize,
    hardware: u16,
}

impl Observer {
    /// At this interface of the calling thread's network namespace. `bytes` of each frame are kept.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(interface: u32, bytes: u32) -> io::Result<Observer> {
        let socket = open_socket(interface)?;
        keep_only(&socket, bytes)?;
        let hardware = hardware_of(&socket)?;
        // A loopback interface shows each frame twice.
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_IGNORE_OUTGOING,
            &libc::c_int::from(hardware == libc::ARPHRD_LOOPBACK),
        )?;
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V3 as libc::c_int),
        )?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: BLOCK_BYTES as u32,
            tp_frame_nr: BLOCKS as u32,
            tp_retire_blk_tov: HANDED_OVER_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let observer = Observer { ring: map(&socket, RING_BYTES)?, socket, next: 0, hardware };
        receive_all(&observer.socket, interface)?;
        Ok(observer)
    }

    /// Kind of the interface (linux/if_arp.h).
    pub fn hardware(&self) -> u16 {
        self.hardware
    }

    /// Waits until there are frames, or for this time.
    ///
    /// # Errors
    /// The kernel's error, such as an interface that was taken down.
    pub fn wait(&self, milliseconds: u16) -> io::Result<()> {
        let mut watched =
            [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN | PollFlags::POLLERR)];
        match poll(&mut watched, PollTimeout::from(milliseconds)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        if watched[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR)) {
            return Err(pending_error(&self.socket)?);
        }
        Ok(())
    }

    /// Hands on the frames of all blocks that the kernel has handed over, at most all of the ring.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn receive(&mut self, mut take: impl FnMut(&Seen<'_>) -> io::Result<()>) -> io::Result<()> {
        for _ in 0..BLOCKS {
            if !self.take_block(&mut take)? {
                break;
            }
        }
        Ok(())
    }

    #[expect(unsafe_code, reason = "memory that the kernel writes")]
    fn take_block(
        &mut self,
        take: &mut impl FnMut(&Seen<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        // SAFETY: `next` is below BLOCKS, so that the block is within the ring; it begins with its
        // description, aligned to a page.
        let block = unsafe { self.ring.add(self.next * BLOCK_BYTES) };
        let description: *mut libc::tpacket_block_desc = block.cast().as_ptr();
        // SAFETY: the kernel changes this word of the description atomically.
        let status = unsafe { AtomicU32::from_ptr(&raw mut (*description).hdr.bh1.block_status) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return Ok(false);
        }
        // SAFETY: the block is ours until its status says otherwise, and the kernel has written its
        // description.
        let (frames, first) = unsafe {
            ((*description).hdr.bh1.num_pkts, (*description).hdr.bh1.offset_to_first_pkt)
        };
        // SAFETY: as above; the whole block is mapped, and only read while it is ours.
        let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), BLOCK_BYTES) };
        let mut at = first as usize;
        for _ in 0..frames {
            at += take_frame(bytes, at, take)?;
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % BLOCKS;
        Ok(true)
    }

    /// Frames since the last call for which the ring had no room.
    ///
    /// # Errors
    /// The kernel's error.
    #[expect(unsafe_code, reason = "PACKET_STATISTICS has no safe wrapper")]
    pub fn dropped(&self) -> io::Result<u64> {
        let mut found = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut length = size_of_val(&found) as libc::socklen_t;
        let (level, option) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        // SAFETY: the kernel writes at most the given number of bytes.
        check(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                level,
                option,
                (&raw mut found).cast(),
                &raw mut length,
            )
        })?;
        Ok(u64::from(found.tp_drops))
    }
}

impl Drop for Observer {
    #[expect(unsafe_code, reason = "munmap has no safe wrapper")]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), RING_BYTES) };
    }
}

/// Hands on the frame whose header is at this offset of a block; returns how far the next one is.
#[expect(unsafe_code, reason = "headers that the kernel writes")]
fn take_frame(
    block: &[u8],
    at: usize,
    take: &mut impl FnMut(&Seen<'_>) -> io::Result<()>,
) -> io::Result<usize> {
    let whole = HEADER_BYTES + size_of::<libc::sockaddr_ll>();
    let place = block.get(at..at + whole).expect("the kernel keeps to the block");
    // SAFETY: the slice has room for both, which are plain data; they are read without alignment.
    let header: libc::tpacket3_hdr =
        unsafe { place.as_ptr().cast::<libc::tpacket3_hdr>().read_unaligned() };
    // SAFETY: as above.
    let address: libc::sockaddr_ll =
        unsafe { place.as_ptr().add(HEADER_BYTES).cast::<libc::sockaddr_ll>().read_unaligned() };
    let first = at + usize::from(header.tp_mac);
    let bytes = block
        .get(first..first + header.tp_snaplen as usize)
        .expect("the kernel keeps to the block");
    take(&Seen {
        at_ns: u64::from(header.tp_sec) * NS_PER_S + u64::from(header.tp_nsec),
        bytes,
        wire_bytes: header.tp_len,
        is_outbound: address.sll_pkttype == libc::PACKET_OUTGOING,
        tag: tag_of(&header),
    })?;
    Ok(header.tp_next_offset as usize)
}

fn tag_of(header: &libc::tpacket3_hdr) -> Option<(u16, u16)> {
    let has = |flag| header.tp_status & flag != 0;
    // Kernels before 3.14 do not report the type, which is then that of 802.1Q.
    let kind = if has(libc::TP_STATUS_VLAN_TPID_VALID) {
        header.hv1.tp_vlan_tpid
    } else {
        libc::ETH_P_8021Q as u16
    };
    has(libc::TP_STATUS_VLAN_VALID).then_some((kind, header.hv1.tp_vlan_tci as u16))
}

#[expect(unsafe_code, reason = "an address of a packet socket has no safe accessor")]
fn hardware_of(socket: &OwnedFd) -> io::Result<u16> {
    // SAFETY: sockaddr_ll is plain data for which all zeroes is a value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the kernel writes at most the given number of bytes.
    check(unsafe {
        libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length)
    })?;
    Ok(address.sll_hatype)
}

fn pending_error(socket: &OwnedFd) -> io::Result<io::Error> {
    let number = nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::SocketError)?;
    Ok(io::Error::from_raw_os_error(if number == 0 { libc::ENETDOWN } else { number }))
}
