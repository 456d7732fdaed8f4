//! Requests of storage: the programs of initiators, with their devices and random streams.

use crate::storage_network::agreed;
use crate::storage_record::StorageRecord;
use crate::{Engine, Kind, WorkloadContext, WorkloadProgram, WorkloadRecord};
use std::sync::Arc;
use tailrace_blockdev::DeviceUser;
use tailrace_plan::{RawAccess, RawObserve, Storage};
use tailrace_programs::storage_protocol::Rules;
use tailrace_programs::{
    Access, Arrivals, ArrivalsConfig, JobConfig, LocalPath, NetworkPath, NetworkPathConfig, Pace,
    Path, Pattern, Peer, StorageClient, StorageClientConfig, StorageTarget, StorageTargetConfig,
    Wires,
};
use tailrace_units::{Probability, Span, Time, Zipf};

/// All, in parts per billion.
const ONE_PPB: u64 = 1_000_000_000;

impl Kind for Storage {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let users = self.initiators.len() * self.raw.jobs as usize;
        let requests = match (self.raw.requests, self.raw.bytes) {
            (0, 0) => 0,
            (0, bytes) => bytes.div_ceil((self.block.mean() as u64).max(1)),
            (requests, _) => requests,
        };
        let left = if requests > 0 { users as u64 } else { 0 };
        let devices = if self.target.is_some() { 1 } else { self.initiators.len() as u64 };
        let record = WorkloadRecord::new(observe, users, left, users as u64 * requests);
        WorkloadRecord { storage: Some(Box::new(StorageRecord::new(devices))), ..record }
    }

    fn programs(&self) -> usize {
        self.initiators.len() + usize::from(self.target.is_some())
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let parts = Parts { storage: self, context };
        let network = agreed(&self.raw.protocol).map(|(rules, connections)| Network {
            rules,
            connections,
            wires: Wires::default(),
        });
        if let (Some(network), Some(target)) = (&network, self.target) {
            parts.start_target(engine, target, network);
        }
        for (number, &host) in (0..).zip(&self.initiators) {
            let path: Box<dyn Path> = match &network {
                None => Box::new(LocalPath::new(parts.device(number, host))),
                Some(network) => Box::new(parts.network_path(host, network)),
            };
            let program = Box::new(parts.client(number, path));
            let finishes =
                if self.raw.requests > 0 || self.raw.bytes > 0 { self.raw.jobs.into() } else { 0 };
            let (workload, host) = (context.number, host as u32);
            // The bytes of an initiator are counted when a request is complete.
            engine.start(WorkloadProgram {
                workload,
                host,
                program,
                counts_goodput: false,
                port: None,
                finishes,
            });
        }
    }
}

/// A workload, as its programs are put together.
struct Parts<'a> {
    storage: &'a Storage,
    context: &'a WorkloadContext<'a>,
}

/// The path to the target.
struct Network {
    rules: Arc<Rules>,
    /// Of each initiator.
    connections: u32,
    wires: Wires,
}

impl Parts<'_> {
    fn start_target(&self, engine: &mut dyn Engine, host: usize, network: &Network) {
        let Network { rules, wires, .. } = network;
        let (workload, port) = (self.context.number, self.context.header.port);
        let target = StorageTarget::new(StorageTargetConfig {
            port,
            rules: Arc::clone(rules),
            device: self.device(0, host),
            wires: wires.clone(),
        });
        let (program, port) = (Box::new(target), Some(port));
        engine.start(WorkloadProgram {
            workload,
            host: host as u32,
            program,
            counts_goodput: false,
            port,
            finishes: 0,
        });
    }

    fn network_path(&self, host: usize, network: &Network) -> NetworkPath {
        let Network { rules, connections, wires } = network;
        let target = self.storage.target.expect("what leads over the network has a target");
        NetworkPath::new(NetworkPathConfig {
            host: host as u16,
            target: Peer { host: target as u16, port: self.context.header.port },
            rules: Arc::clone(rules),
            connections: *connections,
            wires: wires.clone(),
        })
    }

    /// The device of an initiator, or of the target (0), which workloads before this one may use
    /// already.
    fn device(&self, number: u32, host: usize) -> DeviceUser {
        let random = || self.context.random(&format!("{number}/device"));
        self.context.devices.user(host, &self.storage.device, random)
    }

    fn client(&self, number: u32, path: Box<dyn Path>) -> StorageClient {
        let raw = &self.storage.raw;
        StorageClient::new(StorageClientConfig {
            jobs: (0..raw.jobs).map(|job| self.job(number, job)).collect(),
            path,
            read_cost: Span::from_ps(raw.read_cost_ps),
            write_cost: Span::from_ps(raw.write_cost_ps),
        })
    }

    fn job(&self, initiator: u32, job: u32) -> JobConfig {
        let raw = &self.storage.raw;
        let user = initiator * raw.jobs + job;
        JobConfig {
            user,
            depth: raw.depth,
            pace: self.pace(initiator, job, user),
            requests: raw.requests,
            bytes: raw.bytes,
            flush_every: raw.flush_every,
            pattern: pattern(self.storage, job),
            random: self.context.random(&format!("{user}/pattern")),
        }
    }

    fn pace(&self, initiator: u32, job: u32, user: u32) -> Pace {
        let start = Time::from_ps(self.context.header.start_ps);
        let Some(arrivals) = &self.storage.arrivals else {
            let random = self.context.random(&format!("{user}/think"));
            return Pace::Closed { start, think: self.storage.think.clone(), random };
        };
        Pace::Open(Arrivals::new(ArrivalsConfig {
            gap: arrivals.clone(),
            spikes: Vec::new(),
            start,
            count: 0,
            client: job.into(),
            clients: self.storage.raw.jobs.into(),
            random: self.context.random(&format!("{initiator}/arrivals")),
        }))
    }
}

/// Jobs have areas one behind the other.
fn pattern(storage: &Storage, job: u32) -> Pattern {
    let Storage { raw, block, device, .. } = storage;
    let sector = u64::from(device.raw.sector_bytes);
    let area = raw.size_bytes / u64::from(raw.jobs) / sector * sector;
    let share = |ppb: u32| Probability::ratio(ppb.into(), ONE_PPB);
    let access = match raw.access {
        RawAccess::Sequential => Access::Sequential,
        RawAccess::Random(ppb) => Access::Random(share(ppb)),
        RawAccess::Zipf(theta_milli) => {
            Access::Zipf(Zipf::new((area / (block.mean() as u64).max(sector)).max(1), theta_milli))
        }
    };
    Pattern {
        read: share(raw.read_ppb),
        access,
        block: block.clone(),
        sector,
        first: raw.offset_bytes + u64::from(job) * area,
        area,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage_devices::tests::disk;
    use tailrace_plan::{RawDistribution, RawStorage, RawStorageProtocol};
    use tailrace_units::Distribution;

    fn storage(access: RawAccess) -> Storage {
        let block = RawDistribution::Constant(8_192);
        let raw = RawStorage {
            initiators: vec!["h0".to_owned()],
            target: None,
            device: "sda".to_owned(),
            protocol: RawStorageProtocol::Local,
            jobs: 3,
            depth: 4,
            read_ppb: 700_000_000,
            access,
            block,
            offset_bytes: 1 << 30,
            size_bytes: 4_000_000,
            arrivals: None,
            think: RawDistribution::Constant(0),
            flush_every: 0,
            read_cost_ps: 0,
            write_cost_ps: 0,
            requests: 0,
            bytes: 0,
        };
        let (block, think) = (Distribution::Constant(8_192), Distribution::Constant(0));
        Storage {
            initiators: vec![0],
            target: None,
            device: disk("sda"),
            block,
            arrivals: None,
            think,
            raw,
        }
    }

    #[test]
    fn jobs_share_the_area_behind_the_offset() {
        // A third of 4 000 000 bytes is 2604 sectors.
        let areas = [0, 1, 2]
            .map(|job| pattern(&storage(RawAccess::Sequential), job))
            .map(|each| (each.first, each.area));
        assert_eq!(areas, [0, 1, 2].map(|job| ((1 << 30) + job * 2_604 * 512, 2_604 * 512)));
    }

    #[test]
    fn requests_are_of_the_shares_and_of_the_exponent_of_the_plan() {
        let asked = pattern(&storage(RawAccess::Random(600_000_000)), 0);
        assert_eq!(asked.read, Probability::ratio(7, 10));
        assert!(
            matches!(asked.access, Access::Random(share) if share == Probability::ratio(6, 10))
        );
        let Access::Zipf(zipf) = pattern(&storage(RawAccess::Zipf(1_300)), 0).access else {
            panic!("it follows Zipf's law")
        };
        assert_eq!(format!("{zipf:?}"), format!("{:?}", Zipf::new(2_604 * 512 / 8_192, 1_300)));
    }
}
