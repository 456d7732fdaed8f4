//! The device.

use crate::cache::{Cache, WriteOrder};
use crate::config::DeviceConfig;
use crate::head::Head;
use crate::link::Link;
use crate::requests::{Completion, Op, Piece, Request, Slab, Underway};
use crate::servers::{Job, Servers};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// Events of a device, in the order of their times; those of the same time in the order in which
/// they began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// The data of a piece that is written has come.
    Came(u32),
    /// A server has read or written a piece.
    Served(u32),
    /// A server has written so many bytes of the cache: the number of the write.
    Drained(u64, u64),
    /// The host learns that a piece is complete.
    Complete(u32),
}

/// A device, with its queue in the block layer.
#[derive(Clone, Debug)]
pub struct Device {
    read_latency: Distribution,
    write_latency: Distribution,
    piece_bytes: u64,
    /// Pieces that the device may still take.
    room: u32,
    link: Link,
    servers: Servers,
    cache: Option<Cache>,
    head: Option<Head>,
    order: WriteOrder,
    random: RandomStream,
    requests: Slab<Underway>,
    pieces: Slab<Piece>,
    /// Pieces in the block layer.
    waiting: VecDeque<u32>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    next_event: u64,
    completions: VecDeque<Completion>,
    /// Requests that are not complete.
    underway: u32,
    /// Since when it has had something to do without a completion.
    busy_since: Time,
}

impl Device {
    /// A device that has nothing to do. It draws latencies from `random`.
    pub fn new(config: DeviceConfig, random: RandomStream) -> Device {
        assert!(
            config.servers > 0 && config.queue_depth > 0,
            "a device serves at least one piece at a time"
        );
        assert!(config.head.is_none() || config.servers == 1, "a disk has one head");
        Device {
            piece_bytes: config.limits.piece_bytes(),
            read_latency: config.read_latency,
            write_latency: config.write_latency,
            room: config.queue_depth,
            link: Link::new(config.link),
            servers: Servers::new(config.servers),
            cache: config.cache.map(Cache::new),
            head: config.head.map(Head::new),
            order: WriteOrder::default(),
            random,
            requests: Slab::new(),
            pieces: Slab::new(),
            waiting: VecDeque::new(),
            events: BinaryHeap::new(),
            next_event: 0,
            completions: VecDeque::new(),
            underway: 0,
            busy_since: Time::ZERO,
        }
    }

    /// The host has a request. Any number may be submitted: those that the device does not take
    /// wait.
    pub fn submit(&mut self, now: Time, request: Request) {
        assert!(
            (request.bytes == 0) == (request.op == Op::Flush),
            "reads and writes have bytes, flushes have none"
        );
        self.handle_timeout(now);
        if self.underway == 0 {
            self.busy_since = now;
        }
        self.underway += 1;
        let pieces = request.bytes.div_ceil(self.piece_bytes) as u32;
        let number = self.requests.add(Underway {
            request,
            submitted: now,
            pieces,
            left: pieces,
            pieces_wait: Span::ZERO,
        });
        if request.op == Op::Flush {
            self.order.flush(number);
            return self.finish_flushes(now);
        }
        self.split(number, request);
        self.admit(now);
    }

    /// When it wants to be called, or [`Time::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.events.peek().map_or(Time::NEVER, |&Reverse((at, ..))| at)
    }

    /// Does everything that is due by `now`, each at its time.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&Reverse((at, _, event))) = self.events.peek()
            && at <= now
        {
            self.events.pop();
            self.handle_event(at, event);
        }
    }

    /// The next request that is complete, in the order in which they are.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    fn split(&mut self, number: u32, request: Request) {
        let mut done = 0;
        while done < request.bytes {
            let bytes = self.piece_bytes.min(request.bytes - done);
            let serial = if request.op == Op::Write { self.order.add() } else { 0 };
            let offset = request.offset + done;
            let piece = self.pieces.add(Piece {
                request: number,
                op: request.op,
                offset,
                bytes,
                serial,
                served: Span::ZERO,
            });
            self.waiting.push_back(piece);
            done += bytes;
        }
    }

    /// The device takes the requests for which it has room.
    fn admit(&mut self, now: Time) {
        while self.room > 0
            && let Some(piece) = self.waiting.pop_front()
        {
            self.room -= 1;
            let Piece { op, bytes, .. } = *self.pieces.at(piece);
            // The head itself writes at the pace of the link, unless a cache takes the data first.
            let crosses_first = op == Op::Write && (self.head.is_none() || self.cache.is_some());
            if crosses_first {
                self.pieces.at(piece).served = self.link.time(op, bytes);
                let at = self.link.cross(now, op, bytes);
                self.schedule(at, Event::Came(piece));
            } else {
                self.servers.queue(Job::Piece(piece));
            }
        }
        self.serve(now);
    }

    /// Servers take the waiting pieces.
    fn serve(&mut self, now: Time) {
        loop {
            let is_urgent =
                self.order.is_flushing() || self.cache.as_ref().is_some_and(Cache::is_full);
            match self.servers.take(is_urgent) {
                None => return,
                Some(Job::Piece(number)) => {
                    let Piece { op, offset, bytes, .. } = *self.pieces.at(number);
                    let time = self.service_time(op, offset, bytes);
                    let piece = self.pieces.at(number);
                    piece.served += time;
                    self.schedule(now + time, Event::Served(number));
                }
                Some(Job::Drain { serial, offset, bytes }) => {
                    let time = self.service_time(Op::Write, offset, bytes);
                    self.schedule(now + time, Event::Drained(serial, bytes));
                }
            }
        }
    }

    /// How long a server takes. A head moves over the data itself.
    fn service_time(&mut self, op: Op, offset: u64, bytes: u64) -> Span {
        let latency = if op == Op::Read { &self.read_latency } else { &self.write_latency };
        let latency = Span::from_ps(latency.draw(&mut self.random));
        match &mut self.head {
            None => latency,
            Some(head) => {
                latency + head.come(offset, bytes, &mut self.random) + self.link.time(op, bytes)
            }
        }
    }

    fn handle_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Came(piece) if self.cache.is_some() => {
                self.cache.as_mut().expect("it has just been seen").queue(piece);
                self.fill_cache(now);
            }
            Event::Came(piece) => self.servers.queue(Job::Piece(piece)),
            Event::Served(piece) => {
                self.servers.release();
                self.served(now, piece);
            }
            Event::Drained(serial, bytes) => {
                self.servers.release();
                self.cache.as_mut().expect("only a cache is drained").drained(bytes);
                self.order.written(serial);
                self.finish_flushes(now);
                self.fill_cache(now);
            }
            Event::Complete(piece) => self.complete(now, piece),
        }
        self.serve(now);
    }

    /// Data that has come goes into the cache where there is room, and is written from there.
    fn fill_cache(&mut self, now: Time) {
        while let Some(cache) = &mut self.cache
            && let Some(number) = cache.take(|piece| self.pieces.at(piece).bytes)
        {
            let latency = cache.config.latency;
            let piece = self.pieces.at(number);
            piece.served += latency;
            self.servers.queue(Job::Drain {
                serial: piece.serial,
                offset: piece.offset,
                bytes: piece.bytes,
            });
            self.schedule(now + latency, Event::Complete(number));
        }
    }

    fn served(&mut self, now: Time, number: u32) {
        let Piece { op, bytes, serial, .. } = *self.pieces.at(number);
        if op == Op::Write {
            self.order.written(serial);
            self.finish_flushes(now);
        }
        if op == Op::Write || self.head.is_some() {
            return self.complete(now, number);
        }
        let piece = self.pieces.at(number);
        piece.served += self.link.time(op, bytes);
        let at = self.link.cross(now, op, bytes);
        self.schedule(at, Event::Complete(number));
    }

    fn complete(&mut self, now: Time, number: u32) {
        let Piece { request: of, served, .. } = self.pieces.take(number);
        self.room += 1;
        let request = self.requests.at(of);
        let wait = now.since(request.submitted);
        request.pieces_wait += wait;
        request.left -= 1;
        if request.left == 0 {
            self.tell(now, of, served);
        }
        self.admit(now);
    }

    fn finish_flushes(&mut self, now: Time) {
        while let Some(request) = self.order.poll_flushed() {
            let waited = now.since(self.requests.at(request).submitted);
            self.tell(now, request, waited);
        }
    }

    /// A request is complete.
    fn tell(&mut self, now: Time, number: u32, device: Span) {
        let Underway { request, submitted, pieces, pieces_wait, .. } = self.requests.take(number);
        let busy = now.since(std::mem::replace(&mut self.busy_since, now));
        self.underway -= 1;
        let queue = now.since(submitted).less(device);
        let Request { tag, op, .. } = request;
        self.completions.push_back(Completion {
            tag,
            op,
            submitted,
            at: now,
            queue,
            device,
            pieces,
            pieces_wait,
            busy,
        });
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.events.push(Reverse((at, self.next_event, event)));
        self.next_event += 1;
    }
}
