//! Packet sockets: frames are sent several at a time, and received from memory that the kernel
//! shares.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Room for the marked part of a frame behind the kernel's own header (linux/if_packet.h).
const SLOT_BYTES: usize = 256;
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 32;
/// Frames that may wait for the receiver.
const SLOTS: usize = BLOCK_BYTES * BLOCKS / SLOT_BYTES;
const RING_BYTES: usize = BLOCK_BYTES * BLOCKS;
/// The usual 212 992 bytes are a hundred small frames.
const SEND_BUFFER_BYTES: libc::c_int = 64 << 20;
const NS_PER_S: u64 = 1_000_000_000;
/// linux/filter.h: `ret #k` of a classic filter.
const BPF_RET: u16 = 0x06;

/// A socket that sends frames by one interface.
#[derive(Debug)]
pub struct PacketSender {
    socket: OwnedFd,
}

impl PacketSender {
    /// By this interface of the calling thread's network namespace. `is_direct`: past its queue.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(interface: u32, is_direct: bool) -> io::Result<PacketSender> {
        Ok(PacketSender { socket: open_sender(interface, is_direct)? })
    }

    /// Sends these frames in order; returns how many the interface has taken, and whether it lost
    /// the one after them.
    ///
    /// # Errors
    /// The kernel's error.
    #[expect(unsafe_code, reason = "sendmmsg's wrapper allocates")]
    pub fn send<const N: usize>(
        &self,
        frames: &[Vec<u8>; N],
        count: usize,
    ) -> io::Result<(usize, bool)> {
        let count = count.min(N);
        // SAFETY: both are plain data for which all zeroes is a value.
        let (mut parts, mut messages): ([libc::iovec; N], [libc::mmsghdr; N]) =
            unsafe { std::mem::zeroed() };
        for ((frame, part), message) in frames.iter().zip(&mut parts).zip(&mut messages) {
            *part =
                libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: messages, parts and frames outlive the call, which only reads the frames.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) => Ok((sent, false)),
            Err(_) => match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::ENOBUFS) => Ok((0, true)),
                error if error.kind() == io::ErrorKind::WouldBlock => Ok((0, false)),
                error => Err(error),
            },
        }
    }
}

/// A socket that receives the beginnings of frames into shared memory (TPACKET_V2).
#[derive(Debug)]
pub struct PacketReceiver {
    socket: OwnedFd,
    ring: NonNull<u8>,
    next: usize,
}

// The memory belongs to the value alone.
#[expect(unsafe_code, reason = "a pointer to memory of its own")]
// SAFETY: nothing else has the pointer, and the memory is mapped for all threads.
unsafe impl Send for PacketReceiver {}

impl PacketReceiver {
    /// At this interface of the calling thread's network namespace. `bytes` of each frame are kept.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(interface: u32, bytes: u32) -> io::Result<PacketReceiver> {
        let socket = open_socket(interface)?;
        keep_only(&socket, bytes)?;
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as libc::c_int),
        )?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: SLOT_BYTES as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let receiver = PacketReceiver { ring: map(&socket, RING_BYTES)?, socket, next: 0 };
        receive_all(&receiver.socket, interface)?;
        Ok(receiver)
    }

    /// Hands on the frames that have arrived, with their times of arrival (CLOCK_REALTIME, ns);
    /// returns how many frames.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8], u64)) -> usize {
        let mut count = 0;
        while count < SLOTS && self.take_next(&mut take) {
            count += 1;
        }
        count
    }

    #[expect(unsafe_code, reason = "memory that the kernel writes")]
    fn take_next(&mut self, take: &mut impl FnMut(&[u8], u64)) -> bool {
        // SAFETY: `next` is below SLOTS, so that the slot is within the ring; a slot begins with a
        // header, whose first word the kernel changes atomically, and is aligned to 256 bytes.
        let slot = unsafe { self.ring.add(self.next * SLOT_BYTES) };
        let status = unsafe { AtomicU32::from_ptr(slot.cast().as_ptr()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the slot is ours until its status says otherwise, and the kernel has written a
        // header.
        let header: libc::tpacket2_hdr = unsafe { slot.cast().read() };
        let (at, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        assert!(at + length <= SLOT_BYTES, "the kernel keeps to the slot");
        // SAFETY: these bytes are within the slot.
        let bytes = unsafe { std::slice::from_raw_parts(slot.add(at).as_ptr(), length) };
        take(bytes, u64::from(header.tp_sec) * NS_PER_S + u64::from(header.tp_nsec));
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % SLOTS;
        true
    }

    /// Frames since the last call for which the ring had no room.
    ///
    /// # Errors
    /// The kernel's error.
    #[expect(unsafe_code, reason = "PACKET_STATISTICS has no safe wrapper")]
    pub fn overruns(&self) -> io::Result<u64> {
        let mut found = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of_val(&found) as libc::socklen_t;
        let (level, option) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        // SAFETY: the kernel writes at most the given number of bytes.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                level,
                option,
                (&raw mut found).cast(),
                &raw mut length,
            )
        };
        check(result).map(|()| u64::from(found.tp_drops))
    }
}

impl Drop for PacketReceiver {
    #[expect(unsafe_code, reason = "munmap has no safe wrapper")]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), RING_BYTES) };
    }
}

/// A socket that only sends. `is_direct`: past the queue of the interface.
pub(super) fn open_sender(interface: u32, is_direct: bool) -> io::Result<OwnedFd> {
    let socket = open_socket(interface)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER_BYTES)
        .or_else(|_| set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER_BYTES))?;
    set(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &libc::c_int::from(is_direct))?;
    Ok(socket)
}

/// A socket at an interface that receives nothing yet.
#[expect(unsafe_code, reason = "packet sockets have no safe constructor")]
pub(super) fn open_socket(interface: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers, and a descriptor that it returns is new.
    let number = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    check(number)?;
    // SAFETY: as above.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    bind(&socket, interface, 0)?;
    Ok(socket)
}

/// From here on the socket receives all frames. This is the last step of opening one: frames that
/// came before it has its ring would be lost.
pub(super) fn receive_all(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    bind(socket, interface, (libc::ETH_P_ALL as u16).to_be())
}

/// `protocol` in network order; 0 receives nothing.
#[expect(unsafe_code, reason = "an address of a packet socket has no safe constructor")]
fn bind(socket: &OwnedFd, interface: u32, protocol: u16) -> io::Result<()> {
    // SAFETY: sockaddr_ll is plain data for which all zeroes is a value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = interface as i32;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

/// A classic filter that keeps so many bytes of every frame.
pub(super) fn keep_only(socket: &OwnedFd, bytes: u32) -> io::Result<()> {
    let mut program = [libc::sock_filter { code: BPF_RET, jt: 0, jf: 0, k: bytes }];
    let filter = libc::sock_fprog { len: 1, filter: program.as_mut_ptr() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

#[expect(unsafe_code, reason = "mmap has no safe wrapper")]
pub(super) fn map(socket: &OwnedFd, bytes: usize) -> io::Result<NonNull<u8>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping, where the kernel chooses.
    let memory =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, socket.as_raw_fd(), 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(memory.cast()).expect("the kernel does not map page 0"))
}

#[expect(unsafe_code, reason = "options of packet sockets have no safe wrappers")]
pub(super) fn set<T>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads as many bytes as the value has, which outlives the call.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            length,
        )
    })
}

pub(super) fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
