//! The program of a target.

use super::protocol::{Arrival, Reader, Rules, Served, TargetSession};
use super::wires::{Wire, Wires};
use crate::cause::{Cause, Work};
use crate::{HostCalls, Program};
use std::collections::BTreeMap;
use std::sync::Arc;
use tailrace_blockdev::{Completion, DeviceUser, Request};
use tailrace_transport::tcp::Failure;
use tailrace_units::Time;

/// Connections that may wait to be accepted (Linux `somaxconn`): the program accepts each at once.
const BACKLOG: u32 = 4_096;

/// Configuration of a target.
#[derive(Debug)]
pub struct StorageTargetConfig {
    /// The port at which it listens.
    pub port: u16,
    /// Rules of its sessions with each initiator.
    pub rules: Arc<Rules>,
    /// Its use of the device.
    pub device: DeviceUser,
    /// Contents of the connections.
    pub wires: Wires,
}

/// A target with its device.
#[derive(Debug)]
pub struct StorageTarget {
    port: u16,
    is_listening: bool,
    rules: Arc<Rules>,
    wires: Wires,
    device: DeviceUser,
    sessions: BTreeMap<u32, Session>,
    next_serial: u64,
    /// Requests at the device, by their tags there.
    at_device: Vec<Origin>,
    free: Vec<u32>,
}

/// The session of a connection.
#[derive(Debug)]
struct Session {
    /// Distinguishes it from earlier and later requests of the same socket.
    serial: u64,
    session: TargetSession,
    wire: Wire,
    reader: Reader,
}

/// The request for which the device works.
#[derive(Clone, Copy, Debug)]
struct Origin {
    socket: u32,
    serial: u64,
    tag: u32,
}

impl StorageTarget {
    /// Before its first connection.
    pub fn new(config: StorageTargetConfig) -> StorageTarget {
        let StorageTargetConfig { port, rules, device, wires } = config;
        StorageTarget {
            port,
            is_listening: false,
            rules,
            wires,
            device,
            sessions: BTreeMap::new(),
            next_serial: 0,
            at_device: Vec::new(),
            free: Vec::new(),
        }
    }

    fn submit(&mut self, now: Time, origin: Origin, request: Request) {
        let tag = self.free.pop().unwrap_or(self.at_device.len() as u32);
        if tag as usize == self.at_device.len() {
            self.at_device.push(origin);
        } else {
            self.at_device[tag as usize] = origin;
        }
        self.device.submit(now, Request { tag: tag.into(), ..request });
    }

    /// Answers the requests that the device has served.
    fn settle(&mut self, calls: &mut dyn HostCalls) {
        while let Some(completion) = self.device.poll_completion() {
            let Completion { tag, submitted, queue, device, pieces, pieces_wait, busy, .. } =
                completion;
            let origin = self.at_device[tag as usize];
            self.free.push(tag as u32);
            let Some(session) = self
                .sessions
                .get_mut(&origin.socket)
                .filter(|session| session.serial == origin.serial)
            else {
                continue; // Its connection was lost.
            };
            calls.follows(Some(Cause {
                work: Work::Device,
                ..Cause::now(origin.socket, submitted)
            }));
            session
                .session
                .handle_served(origin.tag, Served { queue, device, pieces, pieces_wait, busy });
            session.write(origin.socket, calls);
        }
    }
}

impl Program for StorageTarget {
    fn poll_timeout(&self) -> Time {
        if self.is_listening { self.device.poll_timeout() } else { Time::ZERO }
    }
    fn port(&self) -> Option<(u16, u32)> {
        Some((self.port, BACKLOG))
    }
    fn running(&self, _: &mut dyn FnMut(u32, Time)) {}
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        if !self.is_listening {
            self.is_listening = true;
            assert!(calls.listen(self.port, BACKLOG), "each target has a port of its own");
        }
        self.device.handle_timeout(now);
        self.settle(calls);
    }
    fn handle_core(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("a target asks for no core");
    }
    fn handle_connected(&mut self, _: Time, _: u32, _: &mut dyn HostCalls) {
        unreachable!("a target opens no connections");
    }
    fn handle_waiting(&mut self, _: Time, port: u16, calls: &mut dyn HostCalls) {
        while let Some(socket) = calls.accept(port) {
            let (wire, reader) = (self.wires.find(calls.ends(socket).peer), Reader::default());
            let session = TargetSession::new(Arc::clone(&self.rules));
            let mut session = Session { serial: self.next_serial, session, wire, reader };
            self.next_serial += 1;
            session.write(socket, calls);
            self.sessions.insert(socket, session);
        }
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        let Some(session) = self.sessions.get_mut(&socket) else { return };
        session.read(bytes);
        session.write(socket, calls);
        let serial = session.serial;
        while let Some(Arrival { tag, request }) =
            self.sessions.get_mut(&socket).and_then(|session| session.session.poll_whole())
        {
            self.submit(now, Origin { socket, serial, tag }, request);
        }
        self.settle(calls);
    }
    fn handle_ended(&mut self, _: Time, socket: u32, calls: &mut dyn HostCalls) {
        self.sessions.remove(&socket);
        calls.close(socket);
    }
    fn handle_failed(&mut self, _: Time, socket: u32, _: Failure, _: &mut dyn HostCalls) {
        self.sessions.remove(&socket);
    }
}

impl Session {
    fn read(&mut self, bytes: u64) {
        self.reader.handle_bytes(bytes);
        while let Some(pdu) = self
            .reader
            .poll_pdu(&mut self.wire.lock().expect("nothing panics while it has this")[0])
        {
            self.session.handle_pdu(pdu);
        }
    }

    fn write(&mut self, socket: u32, calls: &mut dyn HostCalls) {
        while let Some(pdu) = self.session.poll_pdu() {
            self.wire.lock().expect("nothing panics while it has this")[1].write(pdu);
            calls.write(socket, pdu.bytes.into());
        }
    }
}
