//! Datagrams at a rate, whatever the network does.

use crate::{Arriving, Ends, Engine, Followed, Kind, WorkloadContext, WorkloadRecord};
use tailrace_plan::{Datagrams, RawObserve};

impl Kind for Datagrams {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        WorkloadRecord::new(observe, 0, 0, 0)
    }

    fn followed(&self) -> Followed {
        Followed::OneWay
    }

    fn has_arrivals(&self) -> bool {
        true
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let what = Arriving::Datagrams {
            ends,
            payload_max: self.payload_max,
            send_buffer_bytes: self.raw.send_buffer_bytes,
        };
        engine.arrive(context.arrivals(what, &self.sizes, &self.interarrival, self.raw.count));
    }
}
