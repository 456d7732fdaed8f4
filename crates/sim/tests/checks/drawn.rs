//! Workloads of known kinds, whose bodies can be changed before they join a plan.

use tailrace_plan::*;

/// A workload of a known kind: its body can be changed key by key before it joins a plan.
#[derive(Clone, Debug)]
pub struct Drawn<B> {
    pub header: RawHeader,
    pub body: B,
}

impl<B> std::ops::Deref for Drawn<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.body
    }
}

impl<B> std::ops::DerefMut for Drawn<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.body
    }
}

pub trait Kind {
    fn of_any_kind(self) -> RawBody;
}

impl Kind for RawOltp {
    fn of_any_kind(self) -> RawBody {
        RawBody::Oltp(self)
    }
}

impl Kind for RawStream {
    fn of_any_kind(self) -> RawBody {
        RawBody::Stream(self)
    }
}

impl Kind for RawFlows {
    fn of_any_kind(self) -> RawBody {
        RawBody::Flows(self)
    }
}

impl Kind for RawDatagrams {
    fn of_any_kind(self) -> RawBody {
        RawBody::Datagrams(self)
    }
}

impl Kind for RawFrames {
    fn of_any_kind(self) -> RawBody {
        RawBody::Frames(self)
    }
}

impl Kind for RawRequests {
    fn of_any_kind(self) -> RawBody {
        RawBody::Requests(Box::new(self))
    }
}

impl Kind for RawBlocks {
    fn of_any_kind(self) -> RawBody {
        RawBody::Blocks(Box::new(self))
    }
}

impl Kind for RawStorage {
    fn of_any_kind(self) -> RawBody {
        RawBody::Storage(Box::new(self))
    }
}

impl Kind for RawMpi {
    fn of_any_kind(self) -> RawBody {
        RawBody::Mpi(Box::new(self))
    }
}

impl<B: Kind> From<Drawn<B>> for RawWorkload {
    fn from(drawn: Drawn<B>) -> RawWorkload {
        RawWorkload { header: drawn.header, body: drawn.body.of_any_kind() }
    }
}
