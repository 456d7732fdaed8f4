//! Completed operations, and their explanations.

use super::Recorder;
use crate::causes::part::Part;
use crate::causes::walk::{Last, Walk};
use tailrace_host::Completion;
use tailrace_programs::cause::{Because, Came, Cause, Work};
use tailrace_workloads::Followed;

impl Recorder {
    /// A transaction is complete.
    pub(super) fn completed(&mut self, completion: &Completion) {
        if !matches!(self.followed[completion.owner as usize], Followed::Not(_)) {
            self.completed.push(*completion);
        }
    }

    pub(super) fn explain(&mut self, completion: Completion) {
        let Completion {
            owner, user, intended, because: Because { host, cause, core_wait }, ..
        } = completion;
        let followed = self.followed[owner as usize];
        // A receiver of datagrams is no client.
        let work = if followed == Followed::OneWay { Part::ServerWork } else { Part::ClientWork };
        let last = match cause.map(|cause| (cause, cause.came)) {
            Some((Cause { by, work: Work::Device, .. }, Came::Nothing)) => {
                Last::Own(by, Part::Device)
            }
            Some((Cause { by, .. }, Came::Nothing)) => Last::Own(by, Part::ClientWork),
            Some((cause, Came::Bytes(_) | Came::Datagram { .. })) => {
                self.what_came(host, &cause).map_or(Last::Nothing, |came| Last::Frame {
                    at: came.at,
                    frame: came.frame,
                    core_wait: core_wait.max(came.core_wait),
                    work,
                })
            }
            None => Last::Nothing,
        };
        let own = if followed == Followed::Peers { Part::ClientWork } else { Part::Start };
        let during = (intended, self.event.now);
        let record = (&self.frames, &self.wires, self.keeps_steps);
        // Steps are those of the whole path.
        let mut cached =
            if self.keeps_steps { None } else { self.cached_paths.take((owner, user), during) };
        self.explained.push(Walk::explain(
            record,
            cached.as_mut(),
            (owner, user),
            during,
            (last, own),
        ));
        if let Some(cached) = cached {
            self.cached_paths.put((owner, user), cached);
        }
        let last = if let Last::Frame { frame, .. } = last { Some(frame) } else { None };
        self.find_members(owner, intended, last);
    }
}
