//! Block devices of the hosts. Workloads that name the same device of the same host share it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use tailrace_blockdev::{CacheConfig, Device, DeviceConfig, DeviceUser, HeadConfig, Limits, LinkConfig};
use tailrace_plan::BlockDevice;
use tailrace_units::{RandomStream, Span};

/// The first user of every device, by host and name of the device.
#[derive(Default, Debug)]
pub(crate) struct Devices(RefCell<BTreeMap<(usize, String), DeviceUser>>);

impl Devices {
    /// One more use of this device of this host. The first one makes it, and tells where its latencies are drawn from.
    pub(crate) fn user(&self, host: usize, device: &BlockDevice, random: impl FnOnce() -> RandomStream) -> DeviceUser {
        let mut users = self.0.borrow_mut();
        let first = users
            .entry((host, device.raw.name.clone()))
            .or_insert_with(|| DeviceUser::new(Device::new(device_config(device), random())));
        first.another()
    }
}

/// A device of the plan, as the model has it.
fn device_config(device: &BlockDevice) -> DeviceConfig {
    let BlockDevice { read_latency, write_latency, rates: [read, write], raw } = device;
    let limits = raw.limits;
    DeviceConfig {
        servers: raw.servers,
        read_latency: read_latency.clone(),
        write_latency: write_latency.clone(),
        link: LinkConfig { read: *read, write: *write, is_duplex: raw.is_duplex },
        queue_depth: raw.queue_depth,
        limits: Limits {
            max_sectors_bytes: limits.max_sectors_bytes,
            max_segments: limits.max_segments.into(),
            segment_bytes: limits.segment_bytes,
            transfer_bytes: (limits.transfer_bytes > 0).then_some(limits.transfer_bytes),
        },
        cache: raw.cache.map(|cache| CacheConfig { bytes: cache.bytes, latency: Span::from_ps(cache.latency_ps) }),
        head: raw.head.map(|head| HeadConfig {
            turn: Span::from_ps(head.turn_ps),
            seek_track: Span::from_ps(head.seek_track_ps),
            seek_full: Span::from_ps(head.seek_full_ps),
            capacity: head.capacity_bytes,
        }),
    }
}
