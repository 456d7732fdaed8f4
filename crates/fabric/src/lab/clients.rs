//! The clients of a lab: the process that holds its input and output, or processes connected to its
//! socket.

use super::protocol::LINE_BYTES_MAX;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// Most connections at a time; further ones wait.
const CLIENTS_MAX: usize = 64;
/// Time limit for a client to read its messages before it is disconnected.
const WRITE_WAIT: Duration = Duration::from_secs(2);
const READ_BYTES: usize = 65_536;

/// Which client, in the order of their coming.
pub(super) type ClientNo = u64;

/// Input since the last read.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) lines: Vec<(ClientNo, String)>,
    /// Which of the other files are readable.
    pub(super) others: Vec<bool>,
    /// The process that held the lab has closed its input: no commands follow.
    pub(super) is_over: bool,
}

#[derive(Debug)]
enum Channel {
    /// Our own input and output.
    Standard(io::Stdin),
    Socket(UnixStream),
}

#[derive(Debug)]
struct Client {
    number: ClientNo,
    channel: Channel,
    /// The beginning of a line.
    pending: Vec<u8>,
}

/// All clients.
#[derive(Debug)]
pub(super) struct Clients {
    listener: Option<UnixListener>,
    clients: Vec<Client>,
    next_number: ClientNo,
}

impl Clients {
    /// With a listener, every client that connects; without, the process that holds our input and
    /// output.
    pub(super) fn new(listener: Option<UnixListener>) -> Clients {
        let standard =
            Client { number: 0, channel: Channel::Standard(io::stdin()), pending: Vec::new() };
        let clients = if listener.is_some() { vec![] } else { vec![standard] };
        Clients { listener, clients, next_number: 1 }
    }

    /// Waits until a client sends a message or another file becomes readable.
    pub(super) fn listen(&mut self, others: &[BorrowedFd<'_>]) -> io::Result<Heard> {
        let has_room = self.clients.len() < CLIENTS_MAX;
        let mut files: Vec<PollFd> =
            self.clients.iter().map(|client| readable(client.file())).collect();
        files.extend(others.iter().map(|&other| readable(other)));
        files.extend(
            self.listener.iter().filter(|_| has_room).map(|listener| readable(listener.as_fd())),
        );
        match poll(&mut files, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => {
                return Ok(Heard { others: vec![false; others.len()], ..Heard::default() });
            }
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = files.iter().map(|file| file.any().unwrap_or(false)).collect();
        let (first_other, listener) = (self.clients.len(), self.clients.len() + others.len());
        let mut heard = Heard { others: ready[first_other..listener].to_vec(), ..Heard::default() };
        let mut gone = Vec::new();
        for (client, _) in self.clients.iter_mut().zip(&ready).filter(|(_, ready)| **ready) {
            if !client.read(&mut heard.lines) {
                gone.push(client.number);
                heard.is_over |= matches!(client.channel, Channel::Standard(_));
            }
        }
        if ready.get(listener) == Some(&true) {
            self.accept()?;
        }
        self.clients.retain(|client| !gone.contains(&client.number));
        Ok(heard)
    }

    /// Answers one client. A client that no longer reads is disconnected.
    pub(super) fn answer(&mut self, to: ClientNo, answer: &Value) {
        self.clients.retain_mut(|client| client.number != to || client.write(answer));
    }

    /// Sends an event to every client.
    pub(super) fn tell(&mut self, event: &Value) {
        self.clients.retain_mut(|client| client.write(event));
    }

    fn accept(&mut self) -> io::Result<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let (stream, _) = listener.accept()?;
        stream.set_write_timeout(Some(WRITE_WAIT))?;
        self.clients.push(Client {
            number: self.next_number,
            channel: Channel::Socket(stream),
            pending: Vec::new(),
        });
        self.next_number += 1;
        Ok(())
    }
}

impl Client {
    fn file(&self) -> BorrowedFd<'_> {
        match &self.channel {
            Channel::Standard(input) => input.as_fd(),
            Channel::Socket(stream) => stream.as_fd(),
        }
    }

    /// Takes the available input. Returns whether there can be more.
    fn read(&mut self, lines: &mut Vec<(ClientNo, String)>) -> bool {
        let mut buffer = [0; READ_BYTES];
        let read = match &mut self.channel {
            Channel::Standard(input) => {
                nix::unistd::read(input, &mut buffer).map_err(io::Error::from)
            }
            Channel::Socket(stream) => stream.read(&mut buffer),
        };
        let Ok(length @ 1..) = read else { return false };
        self.pending.extend_from_slice(&buffer[..length]);
        while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                lines.push((self.number, text));
            }
        }
        self.pending.len() <= LINE_BYTES_MAX
    }

    fn write(&mut self, value: &Value) -> bool {
        let line = format!("{value}\n");
        let written = match &mut self.channel {
            Channel::Standard(_) => {
                let mut output = io::stdout().lock();
                output.write_all(line.as_bytes()).and_then(|()| output.flush())
            }
            Channel::Socket(stream) => stream.write_all(line.as_bytes()),
        };
        written.is_ok()
    }
}

fn readable(file: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(file, PollFlags::POLLIN)
}
