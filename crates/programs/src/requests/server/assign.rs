//! Which worker serves a request, and in which thread.

use super::RequestServer;
use super::worker::{Reply, Worker};
use crate::HostCalls;

impl RequestServer {
    /// A worker that has nothing to serve.
    pub(super) fn take_worker(&mut self) -> u32 {
        self.idle.pop().unwrap_or_else(|| {
            self.workers.push(Worker::unused());
            self.workers.len() as u32 - 1
        })
    }

    /// On a host with a processor, the thread that serves a connection waits for its requests
    /// itself: without a limit on concurrent requests each connection has a thread, as in
    /// PostgreSQL; with a limit of one, one thread waits for all, as in Redis. Otherwise the thread
    /// that receives events hands requests to others.
    pub(super) fn assign_worker(&mut self, socket: u32, calls: &mut dyn HostCalls) -> Option<u32> {
        match self.policy.concurrency {
            0 => {
                let number = self.take_worker();
                let waits = calls.wait_in_thread(socket, number);
                if !waits {
                    self.idle.push(number);
                }
                waits.then_some(number)
            }
            1 => {
                calls.wait_in_thread(socket, 0);
                None
            }
            _ => None,
        }
    }

    /// The worker's time without a core is over. Where a connection has a thread that one goes on.
    pub(super) fn end_time(&mut self, number: u32, calls: &mut dyn HostCalls) {
        let Worker { reply, .. } = self.workers[number as usize];
        if matches!(reply, Reply::Stream(socket) if self.inbound[&socket].own.is_some())
            && !calls.ask_core(number)
        {
            self.workers[number as usize].is_over = true;
        } else {
            self.ask_others(number, calls);
        }
    }
}
