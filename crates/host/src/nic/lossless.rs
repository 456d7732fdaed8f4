//! A network interface that takes part in data-centre bridging: it obeys pauses, priority by
//! priority, and limits the flows that a congested queue reports.

use super::classes::{Classes, Head, TrafficClass};
use super::lane::Lane;
use super::reaction::{ReactionPoint, ReactionPolicy};
use std::collections::BTreeMap;
use tailrace_units::{Pace, Time};
use tailrace_wire::{PRIORITIES, Packet, Pause, PauseState, QUANTA_MAX, quanta_time};

/// Flows with a limiter of their own; the notifications of further flows are ignored (and counted).
const LIMITERS_MAX: usize = 1_024;

/// The transmitter of a host. It chooses when the line becomes free, so it must be called then.
#[derive(Debug)]
pub struct LosslessNic {
    pace: Pace,
    line_bps: u64,
    overhead_bytes: u64,
    free_at: Time,
    /// Choices before this would find everything held back.
    ready_at: Time,
    limit_bytes: u64,
    /// Waiting frames, with the cost of each on the wire.
    waiting_bytes: u64,
    queues: [Lane; PRIORITIES],
    limited: BTreeMap<u32, (ReactionPoint, Lane)>,
    reaction: Option<ReactionPolicy>,
    /// Which of the queues is served; `None`: all in turn.
    classes: Option<Box<Classes>>,
    pause: PauseState,
    storm: Option<Storm>,
    /// The next queue in the round: priorities first, then limited flows.
    turn: usize,
    /// Frames that did not fit the queue.
    pub queue_drops: u64,
    /// Frames of the host that it has sent.
    pub sent_frames: u64,
    /// Notifications that found no limiter.
    pub unlimited_notifications: u64,
    /// Notifications that arrived.
    pub notifications: u64,
}

/// A fault: the interface pauses its switch again and again.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// Priorities that it pauses, a bit each.
    pub priorities: u8,
    /// The next pause.
    pub next: Time,
    /// No pause is sent from here on.
    pub until: Time,
    /// Makes the frame of a pause.
    pub frame: fn(Pause) -> Packet,
}

/// A frame on the wire: start, end, packet.
pub type Departure = (Time, Time, Packet);

impl LosslessNic {
    /// `queue_bytes` may wait in each priority and for each limited flow; `overhead_bytes` is
    /// charged to every frame on the wire.
    pub fn new(
        pace: Pace,
        line_bps: u64,
        overhead_bytes: u32,
        queue_bytes: u64,
        pause: PauseState,
        reaction: Option<ReactionPolicy>,
    ) -> LosslessNic {
        LosslessNic {
            pace,
            line_bps,
            overhead_bytes: u64::from(overhead_bytes),
            free_at: Time::ZERO,
            ready_at: Time::ZERO,
            limit_bytes: queue_bytes,
            waiting_bytes: 0,
            queues: Default::default(),
            limited: BTreeMap::new(),
            reaction,
            classes: None,
            pause,
            storm: None,
            turn: 0,
            queue_drops: 0,
            sent_frames: 0,
            unlimited_notifications: 0,
            notifications: 0,
        }
    }

    /// Lets the interface misbehave.
    pub fn storm(&mut self, storm: Storm) {
        self.storm = Some(storm);
    }

    /// Shares the line among these classes (802.1Qaz); a priority belongs to the first class that
    /// has it, or to the first of all. Within a class priorities and limited flows take turns.
    pub fn share_among(&mut self, classes: &[TrafficClass]) {
        self.classes = (!classes.is_empty()).then(|| Box::new(Classes::new(classes)));
    }

    /// Takes a frame. Returns when its transmission will have ended if nothing holds it back, or
    /// `None` when the queue is full. Among classes that is an estimate: each sends what waits now,
    /// at its share.
    pub fn enqueue(&mut self, now: Time, packet: Packet) -> Option<Time> {
        let bytes = u64::from(packet.frame_bytes);
        let lane = match self.limited.get_mut(&packet.flow_hash) {
            Some((_, lane)) => lane,
            None => &mut self.queues[usize::from(packet.tag.priority()) % PRIORITIES],
        };
        if lane.bytes + bytes > self.limit_bytes {
            self.queue_drops += 1;
            return None;
        }
        lane.push(packet);
        let wire_bytes = bytes + self.overhead_bytes;
        self.waiting_bytes += wire_bytes;
        if self.free_at <= now {
            self.ready_at = now;
        }
        let before = match &mut self.classes {
            Some(classes) => classes.add(packet.tag.priority(), wire_bytes),
            None => self.waiting_bytes,
        };
        Some(self.free_at.max(now) + self.pace.time_to_send(before))
    }

    /// When [`LosslessNic::send`] has something to do, or [`Time::NEVER`].
    pub fn poll_timeout(&self) -> Time {
        let data =
            if self.waiting_bytes == 0 { Time::NEVER } else { self.free_at.max(self.ready_at) };
        data.min(self.next_storm())
    }

    /// When the next pause of a storm is sent.
    fn next_storm(&self) -> Time {
        let next = self
            .storm
            .filter(|storm| storm.next < storm.until)
            .map(|storm| storm.next.max(self.free_at));
        next.unwrap_or(Time::NEVER)
    }

    /// Sends the next frame if one is due by `now`, at the time at which it was due.
    pub fn send(&mut self, now: Time) -> Option<Departure> {
        while self.poll_timeout() <= now {
            let at = self.poll_timeout();
            if self.next_storm() <= at {
                return self.send_storm(at);
            }
            match self.choose(at) {
                Some(packet) => return Some(self.start(at, packet)),
                None => {
                    self.ready_at = self.next_ready(at);
                    debug_assert!(self.ready_at > at, "what is held back is held back for a while");
                }
            }
        }
        None
    }

    /// Sends a pause of the longest time, and plans the next for when half of it is over.
    fn send_storm(&mut self, at: Time) -> Option<Departure> {
        let storm = self.storm.as_mut()?;
        let packet = (storm.frame)(Pause::new(storm.priorities, QUANTA_MAX, false));
        storm.next = at + quanta_time(self.pace, QUANTA_MAX).part(2);
        self.free_at =
            at + self.pace.time_to_send(u64::from(packet.frame_bytes) + self.overhead_bytes);
        Some((at, self.free_at, packet))
    }

    /// A pause frame has come.
    pub fn handle_pause(&mut self, now: Time, pause: &Pause) {
        self.pause.handle_pause(now, pause, self.pace);
        self.ready_at = now;
    }

    /// Pauses that this interface has received.
    pub fn pause_state(&self) -> &PauseState {
        &self.pause
    }

    /// A congestion notification for a flow has come.
    pub fn handle_notification(&mut self, now: Time, flow_hash: u32, feedback: u8) {
        self.notifications += 1;
        let Some(policy) = self.reaction else { return };
        if !self.limited.contains_key(&flow_hash) {
            if self.limited.len() >= LIMITERS_MAX {
                self.unlimited_notifications += 1;
                return;
            }
            let waiting = self.take_flow(flow_hash);
            self.limited.insert(flow_hash, (ReactionPoint::new(policy, self.line_bps), waiting));
        }
        let (point, _) = self.limited.get_mut(&flow_hash).expect("it was inserted");
        point.handle_notification(now, feedback);
        self.ready_at = now;
    }

    /// Limited flows and their rates in bits per second.
    pub fn limiters(&self) -> impl Iterator<Item = (u32, u64)> {
        self.limited.iter().map(|(&flow, (point, _))| (flow, point.rate_bps()))
    }

    /// Whether a frame of this priority waits that belongs to no limited flow.
    pub fn holds(&self, priority: u8) -> bool {
        !self.queues[usize::from(priority) % PRIORITIES].frames.is_empty()
    }

    /// Counts from `now` on: frames that did not fit, notifications, and pauses.
    pub fn begin_counting(&mut self, now: Time) {
        (self.queue_drops, self.sent_frames, self.notifications, self.unlimited_notifications) =
            (0, 0, 0, 0);
        self.pause.begin_counting(now);
    }

    /// Frames that wait.
    pub fn waiting_frames(&self) -> u64 {
        let plain: usize = self.queues.iter().map(|lane| lane.frames.len()).sum();
        let limited: usize = self.limited.values().map(|(_, lane)| lane.frames.len()).sum();
        (plain + limited) as u64
    }

    /// Moves a flow's waiting frames to its limiter, so that order holds.
    fn take_flow(&mut self, flow_hash: u32) -> Lane {
        let mut taken = Lane::default();
        self.queues.iter_mut().for_each(|lane| lane.take_flow(flow_hash, &mut taken));
        taken
    }

    fn choose(&mut self, at: Time) -> Option<Packet> {
        let Some(mut classes) = self.classes.take() else { return self.choose_in_turn(at) };
        let lane = classes.choose(PRIORITIES + self.limited.len(), self.heads(at));
        self.classes = Some(classes);
        self.take_from(lane?, at)
    }

    /// The head of each lane, and whether it may be sent at `at`.
    fn heads(&self, at: Time) -> impl Iterator<Item = Head> {
        let queues = self.queues.iter().enumerate().map(move |(lane, queue)| {
            let packet = queue.frames.front()?;
            Some((lane, packet, self.pause.free_from(at, lane as u8) <= at))
        });
        let limited =
            (PRIORITIES..).zip(self.limited.values()).map(move |(lane, (point, queue))| {
                let packet = queue.frames.front()?;
                Some((
                    lane,
                    packet,
                    point.next_start() <= at
                        && self.pause.free_from(at, packet.tag.priority()) <= at,
                ))
            });
        queues.chain(limited).flatten().map(|(lane, packet, is_ready)| Head {
            lane,
            priority: packet.tag.priority(),
            wire_bytes: is_ready.then_some(u64::from(packet.frame_bytes) + self.overhead_bytes),
        })
    }

    /// Round robin over priorities and limited flows that may send at `at`.
    fn choose_in_turn(&mut self, at: Time) -> Option<Packet> {
        let lanes = PRIORITIES + self.limited.len();
        for step in 0..lanes {
            let lane = (self.turn + step) % lanes;
            if let Some(packet) = self.take_from(lane, at) {
                self.turn = lane + 1;
                return Some(packet);
            }
        }
        None
    }

    fn take_from(&mut self, lane: usize, at: Time) -> Option<Packet> {
        if lane < PRIORITIES {
            let is_paused = self.pause.free_from(at, lane as u8) > at;
            return if is_paused { None } else { self.queues[lane].pop() };
        }
        let (_, (point, queue)) = self.limited.iter_mut().nth(lane - PRIORITIES)?;
        let priority = queue.frames.front()?.tag.priority();
        let is_held = point.next_start() > at || self.pause.free_from(at, priority) > at;
        if is_held { None } else { queue.pop() }
    }

    fn start(&mut self, at: Time, packet: Packet) -> Departure {
        let wire_bytes = u64::from(packet.frame_bytes) + self.overhead_bytes;
        self.waiting_bytes -= wire_bytes;
        if let Some(classes) = &mut self.classes {
            classes.remove(packet.tag.priority(), wire_bytes);
        }
        self.sent_frames += 1;
        self.free_at = at + self.pace.time_to_send(wire_bytes);
        if let Some((point, queue)) = self.limited.get_mut(&packet.flow_hash) {
            point.charge(at, wire_bytes);
            if point.is_released() && queue.frames.is_empty() {
                self.limited.remove(&packet.flow_hash);
            }
        }
        (at, self.free_at, packet)
    }

    /// The earliest time at which some waiting frame is neither paused nor limited. After `at`.
    fn next_ready(&self, at: Time) -> Time {
        let plain = self.queues.iter().enumerate().filter(|(_, lane)| !lane.frames.is_empty());
        let plain = plain.map(|(priority, _)| self.pause.free_from(at, priority as u8));
        let limited = self.limited.values().filter_map(|(point, queue)| {
            Some(
                self.pause
                    .free_from(at, queue.frames.front()?.tag.priority())
                    .max(point.next_start()),
            )
        });
        plain.chain(limited).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests;
