//! Requests of a recording.

use crate::{Ends, Engine, Kind, LastingConnection, WorkloadContext, WorkloadRecord};
use std::sync::Arc;
use tailrace_plan::{RawObserve, RawRecorded, RawReplayPace, Replay};
use tailrace_programs::{App, ReplayClient, ReplayPace, ReplayServer, Replayed, ReplayedRequest};
use tailrace_units::{Span, Time};

impl Kind for Replay {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let connections = self.raw.connections.len();
        WorkloadRecord::new(observe, connections, connections as u64, self.requests())
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let pace = match self.raw.pace {
            RawReplayPace::Think => ReplayPace::Thinking,
            RawReplayPace::Time => ReplayPace::Timed,
        };
        let ends = Ends { client: self.client as u32, server: self.server as u32 };
        for (user, recorded) in (0..).zip(&self.raw.connections) {
            let replayed = Arc::new(replayed(recorded, pace));
            let client = ReplayClient::new(Arc::clone(&replayed), user);
            let apps = [
                App::ReplayClient(Box::new(client)),
                App::ReplayServer(Box::new(ReplayServer::new(replayed))),
            ];
            engine.connect(LastingConnection {
                workload: context.number,
                user,
                ends,
                apps,
                goodput_at: 0,
                pins: [&[], &[]],
            });
        }
    }
}

fn replayed(recorded: &RawRecorded, pace: ReplayPace) -> Replayed {
    let requests = (0..recorded.begin_ps.len()).map(|at| ReplayedRequest {
        begin: Span::from_ps(recorded.begin_ps[at]),
        request_bytes: recorded.request_bytes[at],
        server_time: Span::from_ps(recorded.server_ps[at]),
        response_bytes: recorded.response_bytes[at],
    });
    Replayed { connect: Time::from_ps(recorded.connect_ps), pace, requests: requests.collect() }
}
