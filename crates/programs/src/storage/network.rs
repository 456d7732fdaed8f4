//! The path to a device of another host.

use super::path::{Command, Done, Outcome, Path, PathWaits};
use super::protocol::{Completion, InitiatorSession, Reader, Rules, Served};
use super::wires::{Wire, Wires};
use crate::cause::{Came, Cause, Work};
use crate::{HostCalls, Peer, Tallies};
use std::collections::VecDeque;
use std::sync::Arc;
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};

/// From the loss of a connection until it is opened again: `DefaultTime2Wait` of RFC 7143 (13.15).
const TIME_TO_WAIT: Span = Span::from_secs(2);

/// Configuration of the path to a target.
#[derive(Debug)]
pub struct NetworkPathConfig {
    /// The initiator's host.
    pub host: u16,
    /// The target.
    pub target: Peer,
    /// Rules that both ends have agreed on.
    pub rules: Arc<Rules>,
    /// Connections, at least one. A job uses one of them; jobs take them in turn.
    pub connections: u32,
    /// Contents of the connections.
    pub wires: Wires,
}

/// A device of another host.
#[derive(Debug)]
pub struct NetworkPath {
    host: u16,
    target: Peer,
    rules: Arc<Rules>,
    wires: Wires,
    links: Vec<Link>,
    done: VecDeque<Done>,
    tallies: Tallies,
}

/// A connection, or the units that wait for one.
#[derive(Debug)]
struct Link {
    state: State,
    session: InitiatorSession,
    reader: Reader,
}

#[derive(Debug)]
enum State {
    /// Closed, and opened again at this time.
    Closed(Time),
    /// By its socket.
    Opened(u32, Wire),
}

impl NetworkPath {
    /// Its connections are opened when the host starts, as devices are attached before they are
    /// used.
    pub fn new(config: NetworkPathConfig) -> NetworkPath {
        let NetworkPathConfig { host, target, rules, connections, wires } = config;
        let links = (0..connections).map(|_| Link::new(&rules, Time::ZERO)).collect();
        NetworkPath {
            host,
            target,
            rules,
            wires,
            links,
            done: VecDeque::new(),
            tallies: Tallies::default(),
        }
    }

    fn connect(&mut self, now: Time, number: usize, calls: &mut dyn HostCalls) {
        self.tallies.connections += 1;
        let Some(socket) = calls.connect(self.target) else {
            self.tallies.failed_connections += 1;
            self.links[number].state = State::Closed(now + TIME_TO_WAIT);
            return;
        };
        let wire = self.wires.open(Peer { host: self.host, port: calls.ends(socket).own_port });
        self.links[number].state = State::Opened(socket, wire);
        self.links[number].write(now, calls);
    }

    fn link_of(&self, socket: u32) -> Option<usize> {
        self.links
            .iter()
            .position(|link| matches!(link.state, State::Opened(own, _) if own == socket))
    }

    /// All that was not answered has failed, and the session begins anew after a time.
    fn lose(&mut self, now: Time, socket: u32) {
        let Some(number) = self.link_of(socket) else { return };
        self.tallies.failed_connections += 1;
        let mut lost =
            std::mem::replace(&mut self.links[number], Link::new(&self.rules, now + TIME_TO_WAIT));
        let failed = |(tag, _)| Done { tag: tag as u32, at: now, outcome: Outcome::Failed };
        self.done.extend(lost.session.take_unanswered().map(failed));
    }
}

impl Path for NetworkPath {
    fn poll_timeout(&self) -> Time {
        let opens =
            |link: &Link| if let State::Closed(until) = link.state { until } else { Time::NEVER };
        self.links.iter().map(opens).min().unwrap_or(Time::NEVER)
    }
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls) {
        for number in 0..self.links.len() {
            if matches!(self.links[number].state, State::Closed(until) if until <= now) {
                self.connect(now, number, calls);
            }
        }
    }
    fn submit(&mut self, now: Time, command: Command, calls: &mut dyn HostCalls) {
        let number = command.job as usize % self.links.len();
        let link = &mut self.links[number];
        link.session.begin(now, command.tag.into(), command.request);
        // Inputs that came while the thread worked on the request are not its cause.
        let by = |socket: u32| Cause { by: command.began, ..Cause::now(socket, now) };
        let before = calls.follows(link.socket().map(by));
        link.write(now, calls);
        calls.follows(before);
    }
    fn poll_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }
    fn handle_readable(&mut self, now: Time, socket: u32, bytes: u64, calls: &mut dyn HostCalls) {
        let Some(number) = self.link_of(socket) else { return };
        let link = &mut self.links[number];
        link.read(now, bytes);
        link.write(now, calls);
        while let Some(completion) = link.session.poll_done() {
            let outcome = Outcome::Complete(waits(&completion));
            self.done.push_back(Done { tag: completion.job as u32, at: now, outcome });
        }
    }
    fn handle_ended(&mut self, now: Time, socket: u32, calls: &mut dyn HostCalls) {
        calls.close(socket);
        self.lose(now, socket);
    }
    fn handle_failed(&mut self, now: Time, socket: u32, _: Failure, _: &mut dyn HostCalls) {
        self.lose(now, socket);
    }
    fn tallies(&self) -> Tallies {
        self.tallies
    }
}

impl Link {
    fn new(rules: &Arc<Rules>, opens: Time) -> Link {
        Link {
            state: State::Closed(opens),
            session: InitiatorSession::new(Arc::clone(rules)),
            reader: Reader::default(),
        }
    }

    fn socket(&self) -> Option<u32> {
        match self.state {
            State::Closed(_) => None,
            State::Opened(socket, _) => Some(socket),
        }
    }

    fn read(&mut self, now: Time, bytes: u64) {
        let State::Opened(_, wire) = &self.state else { return };
        self.reader.handle_bytes(bytes);
        while let Some(pdu) =
            self.reader.poll_pdu(&mut wire.lock().expect("nothing panics while it has this")[1])
        {
            self.session.handle_pdu(now, pdu);
        }
    }

    /// Writes the session's units. They wait in the socket until the connection is open.
    fn write(&mut self, now: Time, calls: &mut dyn HostCalls) {
        let State::Opened(socket, wire) = &self.state else { return };
        while let Some(pdu) = self.session.poll_pdu() {
            wire.lock().expect("nothing panics while it has this")[0].write(pdu);
            let waits = |since| Cause {
                came: Came::Nothing,
                by: since,
                waited: Span::ZERO,
                work: Work::Entry,
            };
            let before = self
                .session
                .waited_for_entry(now, &pdu)
                .map(|since| calls.follows(Some(waits(since))));
            calls.write(*socket, pdu.bytes.into());
            if let Some(before) = before {
                calls.follows(before);
            }
        }
    }
}

/// The wait for the set-up is one for the network.
fn waits(completion: &Completion) -> PathWaits {
    let Served { queue, device, pieces, pieces_wait, busy } = completion.served;
    let network = completion.network() + completion.set_up;
    PathWaits {
        entry: completion.entry,
        network,
        r2t: completion.ready_to_transfer,
        queue,
        device,
        pieces,
        pieces_wait,
        busy,
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Headers, Immediate, Pdu, PduKind, SetupMessage};
    use super::*;
    use crate::fake_host::{Fake, PEER};
    use tailrace_blockdev::{Op, Request};

    fn path(connections: u32) -> NetworkPath {
        let rules = Rules {
            set_up: vec![
                SetupMessage { is_from_initiator: true, bytes: 100 },
                SetupMessage { is_from_initiator: false, bytes: 50 },
            ],
            headers: Headers {
                command: 48,
                data_out: 48,
                ready_to_transfer: 48,
                data_in: 48,
                response: 48,
            },
            header_digest: 0,
            data_digest: 0,
            padding: 4,
            immediate: Immediate::UpTo(0),
            first_burst: 0,
            burst: 4_096,
            outstanding: 1,
            data_out: 4_096,
            data_in: 4_096,
            sequence: 0,
            is_status_with_data: true,
            commands: 8,
            counts_unanswered: true,
            requests: 8,
        };
        NetworkPath::new(NetworkPathConfig {
            host: 0,
            target: PEER,
            rules: Arc::new(rules),
            connections,
            wires: Wires::default(),
        })
    }

    fn read(tag: u32, job: u32) -> Command {
        Command {
            tag,
            job,
            request: Request { op: Op::Read, offset: 0, bytes: 512, tag: tag.into() },
            began: Time::ZERO,
        }
    }

    #[test]
    fn connections_are_opened_at_once_and_jobs_take_them_in_turn() {
        let (mut path, mut host) = (path(2), Fake::default());
        assert_eq!(path.poll_timeout(), Time::ZERO);
        path.handle_timeout(Time::ZERO, &mut host);
        (0..3).for_each(|job| path.submit(Time::ZERO, read(job, job), &mut host));
        // The target's step of the set-up comes over the second connection only.
        assert_eq!(
            (host.connected, &host.written[..], path.poll_timeout()),
            (2, &[(1, 100), (2, 100)][..], Time::NEVER)
        );
        let set_up = Pdu { kind: PduKind::SetUp, tag: 0, offset: 0, data: 0, bytes: 50, window: 0 };
        let State::Opened(_, wire) = &path.links[1].state else { panic!("it is open") };
        wire.lock().expect("nothing panics while it has this")[1].write(set_up);
        path.handle_readable(Time::ZERO, 2, 50, &mut host);
        assert_eq!(host.written[2..], [(2, 48)], "job 1 has the second connection");
    }

    #[test]
    fn a_lost_connection_fails_its_requests_and_is_opened_again() {
        let (mut path, mut host) = (path(2), Fake::default());
        path.handle_timeout(Time::ZERO, &mut host);
        (0..3).for_each(|job| path.submit(Time::ZERO, read(job + 7, job), &mut host));
        let now = Time::from_ns(500);
        path.handle_failed(now, 1, Failure::Reset, &mut host);
        let failed = |tag| Done { tag, at: now, outcome: Outcome::Failed };
        assert_eq!(
            [path.poll_done(), path.poll_done(), path.poll_done()],
            [Some(failed(7)), Some(failed(9)), None]
        );
        assert_eq!(path.poll_timeout(), now + TIME_TO_WAIT);
        path.handle_timeout(now + TIME_TO_WAIT, &mut host);
        assert_eq!((host.connected, host.written.last()), (3, Some(&(3, 100))));
        assert_eq!((path.tallies().connections, path.tallies().failed_connections), (3, 1));
    }

    #[test]
    fn a_connection_that_the_target_has_closed_is_closed_and_lost() {
        let (mut path, mut host) = (path(1), Fake::default());
        path.handle_timeout(Time::ZERO, &mut host);
        path.submit(Time::ZERO, read(3, 0), &mut host);
        path.handle_ended(Time::from_ns(500), 1, &mut host);
        assert_eq!(
            (&host.closed[..], path.poll_done().map(|done| done.outcome)),
            (&[1][..], Some(Outcome::Failed))
        );
    }

    #[test]
    fn the_wait_for_the_set_up_is_one_for_the_network() {
        let (mut path, mut host) = (path(1), Fake::default());
        path.handle_timeout(Time::ZERO, &mut host);
        path.submit(Time::ZERO, read(3, 0), &mut host);
        let State::Opened(_, wire) = &path.links[0].state else { panic!("it is open") };
        let wire = Arc::clone(wire);
        let mut arrive = |now: u64, kind: PduKind, data: u32, bytes: u32| {
            wire.lock().expect("nothing panics while it has this")[1].write(Pdu {
                kind,
                tag: 0,
                offset: 0,
                data,
                bytes,
                window: 8,
            });
            path.handle_readable(Time::from_ns(now), 1, bytes.into(), &mut host);
            path.poll_done()
        };
        assert_eq!(arrive(500, PduKind::SetUp, 0, 50), None);
        let [queue, device] = [Span::from_ps(40_000), Span::from_ps(60_000)];
        let status = Some(Served { queue, device, ..Served::default() });
        let done = arrive(700, PduKind::DataIn { status }, 512, 48 + 512);
        let Some(Done { tag: 3, outcome: Outcome::Complete(waits), .. }) = done else {
            panic!("it is answered: {done:?}")
        };
        assert_eq!(
            (waits.network, waits.queue, waits.device),
            (Span::from_ps(600_000), queue, device)
        );
    }

    #[test]
    fn a_connection_for_which_no_port_is_free_is_tried_again() {
        let (mut path, mut host) = (path(1), Fake { is_full: true, ..Fake::default() });
        path.handle_timeout(Time::ZERO, &mut host);
        assert_eq!(
            (path.poll_timeout(), path.tallies().failed_connections),
            (Time::ZERO + TIME_TO_WAIT, 1)
        );
    }
}
