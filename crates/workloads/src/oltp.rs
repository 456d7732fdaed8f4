//! Closed-loop users of a database.

use crate::{Ends, Engine, Kind, LastingConnection, WorkloadContext, WorkloadRecord};
use std::sync::Arc;
use tailrace_plan::{Oltp, RawGapFrom, RawObserve};
use tailrace_programs::{App, GapFrom, OltpClient, OltpProfile, OltpServer, Statement};
use tailrace_units::{Span, Time};

impl Kind for Oltp {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let users = u64::from(self.raw.users);
        let recorded = self.raw.transactions.saturating_sub(self.raw.warmup_transactions);
        let left = if self.raw.transactions > 0 { users } else { 0 };
        WorkloadRecord::new(observe, users as usize, left, users * recorded)
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let profile = Arc::new(profile(self));
        let ends = Ends { client: self.client as u32, server: self.server as u32 };
        for user in 0..self.raw.users {
            let random = |what: &str| context.random(&format!("{user}/{what}"));
            let start = Time::from_ps(self.start.draw(&mut random("start")));
            let connect = if self.raw.connects_early { Time::ZERO } else { start };
            let client =
                OltpClient::new(Arc::clone(&profile), user, connect, start, random("client"));
            let server = OltpServer::new(Arc::clone(&profile), random("server"));
            let apps = [App::OltpClient(Box::new(client)), App::OltpServer(Box::new(server))];
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

fn profile(oltp: &Oltp) -> OltpProfile {
    let statements = oltp.round_trips.iter().map(|trip| Statement {
        request_bytes: trip.raw.request_bytes,
        response_bytes: trip.raw.response_bytes,
        server_work: Span::from_ps(trip.raw.server_work_ps),
        server_time: trip.server_time.clone(),
        build_fs_per_byte: trip.raw.build_fs_per_byte,
        write_bytes: u64::from(trip.raw.write_bytes),
        produce_fs_per_byte: trip.raw.produce_fs_per_byte,
        consume_fs_per_byte: trip.raw.consume_fs_per_byte,
        consume_chunk_bytes: trip.raw.consume_chunk_bytes,
        unpack_fs_per_byte: trip.raw.unpack_fs_per_byte,
    });
    OltpProfile {
        statements: statements.collect(),
        gap: oltp.gap.clone(),
        gap_from: match oltp.raw.gap_from {
            RawGapFrom::End => GapFrom::End,
            RawGapFrom::Start => GapFrom::Start,
        },
        transactions: oltp.raw.transactions,
        warmup_transactions: oltp.raw.warmup_transactions,
    }
}
