//! Frames of the threads of one program to another.

use crate::{DatagramPair, Ends, Engine, Followed, Kind, Place, WorkloadProgram, WorkloadRecord};
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

    fn open(&self, place: &Place<'_>, engine: &mut dyn Engine) {
        let raw = &self.raw;
        let source = FrameSource::new(FrameSourceConfig {
            payload_bytes: raw.payload_bytes,
            threads: raw.threads,
            start: Time::from_ps(place.header.start_ps),
            delay: Span::from_ps(raw.delay_ps),
            interval: Span::from_ps(raw.interval_ps),
            cost: self.cost.clone(),
            locked: self.locked.clone(),
            count: raw.count,
            random: place.random("costs"),
        });
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let mut start = |host: u32, program: Box<dyn Program>, counts_goodput: bool| {
            engine.start(WorkloadProgram {
                workload: place.number,
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
        engine.pair(DatagramPair { workload: place.number, ends, programs });
    }
}
