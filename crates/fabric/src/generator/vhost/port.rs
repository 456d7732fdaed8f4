//! A port of a switch by vhost-user: its memory, the ring in which it receives, and the one in
//! which it sends.

use super::super::frame::{FRAME_BYTES_MAX, MARKED_BYTES, mark, now_ns};
use super::message::{NO_FILE, ask, body, say};
use super::ring::{BASE, RING_BYTES, RING_SIZE, Ring};
use crate::sys::shared::SharedMemory;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tailrace_lab::vhost_user::{VERSION_1, request};

/// The header of virtio 1.0 before every frame, all zero: no offload.
const HEADER_BYTES: usize = 12;
/// A buffer with room for the largest frame.
const BUFFER_BYTES: usize = (FRAME_BYTES_MAX as usize + HEADER_BYTES).next_multiple_of(64);
/// Where the parts are in the memory; for the other side they begin at [`BASE`].
const SEND_RING_AT: usize = RING_BYTES;
const BUFFERS_AT: usize = 2 * RING_BYTES;
const SEND_BUFFERS_AT: usize = BUFFERS_AT + RING_SIZE as usize * BUFFER_BYTES;
const MEMORY_BYTES: usize =
    (SEND_BUFFERS_AT + RING_SIZE as usize * BUFFER_BYTES).next_multiple_of(4_096);
/// The rings of a network device by their numbers (virtio 1.1 section 5.1.2).
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
/// The switch checks for its sockets once in a second.
const CONNECT_WAIT: Duration = Duration::from_secs(15);
const CONNECT_POLL: Duration = Duration::from_millis(5);
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// A socket to which the switch will connect.
#[derive(Debug)]
pub(super) struct Listening {
    listener: UnixListener,
    path: PathBuf,
}

/// A port.
#[derive(Debug)]
pub(super) struct Port {
    memory: SharedMemory,
    receiving: Ring,
    sending: Ring,
    frame_bytes: usize,
    /// The port is gone without it.
    _line: UnixStream,
}

impl Port {
    pub(super) fn listen(path: &Path) -> io::Result<Listening> {
        let explain =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let listener = UnixListener::bind(path).map_err(explain)?;
        listener.set_nonblocking(true)?;
        Ok(Listening { listener, path: path.to_owned() })
    }

    fn open(mut line: UnixStream) -> io::Result<Port> {
        line.set_read_timeout(Some(ANSWER_WAIT))?;
        let memory = SharedMemory::new(MEMORY_BYTES)?;
        let mut receiving = Ring::new(&memory, 0, (BUFFERS_AT, BUFFER_BYTES), true);
        let sending = Ring::new(&memory, SEND_RING_AT, (SEND_BUFFERS_AT, BUFFER_BYTES), false);
        receiving.give(&memory, RING_SIZE);
        if ask(&mut line, request::GET_FEATURES)? & VERSION_1 == 0 {
            return Err(io::Error::other("the switch does not speak virtio 1.0"));
        }
        say(&line, request::SET_OWNER, &[], None)?;
        say(&line, request::SET_FEATURES, &VERSION_1.to_le_bytes(), None)?;
        // One region: its address for descriptors, its length, its address for rings, its offset in
        // the file.
        let table = body(&[1, BASE, memory.length() as u64, BASE, 0]);
        say(&line, request::SET_MEM_TABLE, &table, Some(memory.file().as_fd()))?;
        for (number, ring) in [(RECEIVE, &receiving), (SEND, &sending)] {
            let [descriptors, used, available] = ring.addresses();
            say(
                &line,
                request::SET_VRING_NUM,
                &body(&[number | u64::from(RING_SIZE) << 32]),
                None,
            )?;
            say(&line, request::SET_VRING_BASE, &body(&[number]), None)?;
            say(
                &line,
                request::SET_VRING_ADDR,
                &body(&[number, descriptors, used, available, 0]),
                None,
            )?;
            say(&line, request::SET_VRING_CALL, &body(&[number | NO_FILE]), None)?;
            say(&line, request::SET_VRING_KICK, &body(&[number | NO_FILE]), None)?;
        }
        Ok(Port { memory, receiving, sending, frame_bytes: 0, _line: line })
    }

    /// Frames that follow have these bytes, but for their marks.
    pub(super) fn prepare(&mut self, bytes: &[u8]) {
        let deadline = Instant::now() + ANSWER_WAIT;
        while self.sending.free(&self.memory) < RING_SIZE && Instant::now() < deadline {
            std::thread::yield_now(); // the switch has frames of an earlier trial
        }
        for index in 0..RING_SIZE {
            self.memory.write(send_buffer(index) + HEADER_BYTES, bytes);
        }
        self.sending.set_length(&self.memory, (HEADER_BYTES + bytes.len()) as u32);
        self.frame_bytes = bytes.len();
    }

    /// Sends frames numbered from `first` on; returns how many had room.
    #[inline]
    pub(super) fn send(&mut self, first: u64, count: usize, now_ns: u64) -> usize {
        let room = self.sending.free(&self.memory).min(u16::try_from(count).unwrap_or(u16::MAX));
        for ahead in 0..room {
            let at = send_buffer(self.sending.next(ahead)) + HEADER_BYTES;
            let mut marks = self.memory.read::<MARKED_BYTES>(at);
            mark(&mut marks, first + u64::from(ahead), now_ns);
            self.memory.write(at, &marks);
        }
        if room > 0 {
            self.sending.give(&self.memory, room);
        }
        usize::from(room)
    }

    /// Hands the beginnings of frames on that have arrived, with the time at which they were found;
    /// returns how many.
    #[inline]
    pub(super) fn receive(&mut self, mut take: impl FnMut(&[u8; MARKED_BYTES], u64)) -> usize {
        let count = self.receiving.waiting(&self.memory);
        if count == 0 {
            return 0;
        }
        let found_ns = now_ns();
        for _ in 0..count {
            let index = self.receiving.take(&self.memory);
            let at = BUFFERS_AT + usize::from(index) * BUFFER_BYTES + HEADER_BYTES;
            take(&self.memory.read(at), found_ns);
        }
        self.receiving.give(&self.memory, count);
        usize::from(count)
    }
}

impl Listening {
    /// Waits for the switch.
    pub(super) fn accept(self) -> io::Result<Port> {
        let deadline = Instant::now() + CONNECT_WAIT;
        loop {
            match self.listener.accept() {
                Ok((line, _)) => {
                    line.set_nonblocking(false)?;
                    return Port::open(line);
                }
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
                {
                    std::thread::sleep(CONNECT_POLL);
                }
                Err(error) => {
                    let path = self.path.display();
                    return Err(io::Error::new(
                        error.kind(),
                        format!("{path}: the switch did not connect: {error}"),
                    ));
                }
            }
        }
    }
}

fn send_buffer(index: u16) -> usize {
    SEND_BUFFERS_AT + usize::from(index) * BUFFER_BYTES
}
