//! Frames of the threads of one program to another.

use crate::{
    DatagramPair, Ends, Engine, Followed, Kind, WorkloadContext, WorkloadProgram, WorkloadRecord,
};
use tailrace_plan::{Frames, RawObserve};
use tailrace_programs::{FrameSink, FrameSource, FrameSourceConfig, Program};
use tailrace_units::{Span, Time};

impl Kind for Frames {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, 0, 0)
    }

    fn followed(&self) -> Followed {
        Followed::OneWay
    }

    fn programs(&self) -> usize {
        2
    }

    fn tells_tallies(&self) -> bool {
        false
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let raw = &self.raw;
        let source = FrameSource::new(FrameSourceConfig {
            payload_bytes: raw.payload_bytes,
            threads: raw.threads,
            start: Time::from_ps(context.header.start_ps),
            delay: Span::from_ps(raw.delay_ps),
            interval: Span::from_ps(raw.interval_ps),
            cost: self.cost.clone(),
            locked: self.locked.clone(),
            count: raw.count,
            random: context.random("costs"),
        });
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let mut start = |host: u32, program: Box<dyn Program>, counts_goodput: bool| {
            engine.start(WorkloadProgram {
                workload: context.number,
                host,
                program,
                counts_goodput,
                port: None,
                finishes: 0,
            })
        };
        let programs = [
            start(ends.client, Box::new(source), false),
            start(ends.server, Box::new(FrameSink), true),
        ];
        engine.pair(DatagramPair { workload: context.number, ends, programs });
    }
}
