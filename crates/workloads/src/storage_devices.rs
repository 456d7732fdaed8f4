//! Block devices of the hosts. Workloads that name the same device of the same host share it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use tailrace_blockdev::{
    CacheConfig, Device, DeviceConfig, DeviceUser, HeadConfig, Limits, LinkConfig,
};
use tailrace_plan::BlockDevice;
use tailrace_units::{RandomStream, Span};

/// The first user of every device, by host and name of the device.
#[derive(Default, Debug)]
pub(crate) struct Devices(RefCell<BTreeMap<(usize, String), DeviceUser>>);

impl Devices {
    /// One more use of this device of this host. The first one makes it, and names the random
    /// stream of its latencies.
    pub(crate) fn user(
        &self,
        host: usize,
        device: &BlockDevice,
        random: impl FnOnce() -> RandomStream,
    ) -> DeviceUser {
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
        cache: raw.cache.map(|cache| CacheConfig {
            bytes: cache.bytes,
            latency: Span::from_ps(cache.latency_ps),
        }),
        head: raw.head.map(|head| HeadConfig {
            turn: Span::from_ps(head.turn_ps),
            seek_track: Span::from_ps(head.seek_track_ps),
            seek_full: Span::from_ps(head.seek_full_ps),
            capacity: head.capacity_bytes,
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tailrace_blockdev::{Op, Request};
    use tailrace_plan::{
        RawDevice, RawDeviceCache, RawDeviceHead, RawDeviceLimits, RawDistribution,
    };
    use tailrace_units::{BitRate, Distribution, Time};

    /// A disk all of whose numbers differ.
    pub(crate) fn disk(name: &str) -> BlockDevice {
        let raw = RawDevice {
            name: name.to_owned(),
            servers: 1,
            read_latency: RawDistribution::Constant(100_000_000),
            write_latency: RawDistribution::Constant(30_000_000),
            read_bps: 4_000_000_000,
            write_bps: 2_000_000_000,
            is_duplex: true,
            queue_depth: 32,
            sector_bytes: 512,
            limits: RawDeviceLimits {
                max_sectors_bytes: 1 << 20,
                max_segments: 64,
                segment_bytes: 4_096,
                transfer_bytes: 0,
            },
            cache: Some(RawDeviceCache { bytes: 1 << 24, latency_ps: 5 }),
            head: Some(RawDeviceHead {
                turn_ps: 8,
                seek_track_ps: 1,
                seek_full_ps: 15,
                capacity_bytes: 1 << 40,
            }),
        };
        BlockDevice {
            read_latency: Distribution::Constant(100_000_000),
            write_latency: Distribution::Constant(30_000_000),
            rates: [BitRate::from_gbps(4), BitRate::from_gbps(2)],
            raw,
        }
    }

    #[test]
    fn a_device_is_that_of_the_plan() {
        let mut device = disk("sda");
        let config = device_config(&device);
        assert_eq!(
            (config.read_latency, config.write_latency),
            (device.read_latency.clone(), device.write_latency.clone())
        );
        assert_eq!(
            (config.link.read, config.link.write),
            (BitRate::from_gbps(4), BitRate::from_gbps(2))
        );
        assert_eq!((config.servers, config.queue_depth, config.link.is_duplex), (1, 32, true));
        assert_eq!(config.limits.piece_bytes(), 64 * 4_096, "the least of the limits that it has");
        let cache = CacheConfig { bytes: 1 << 24, latency: Span::from_ps(5) };
        let [turn, seek_track, seek_full] = [8, 1, 15].map(Span::from_ps);
        let head = HeadConfig { turn, seek_track, seek_full, capacity: 1 << 40 };
        assert_eq!((config.cache, config.head), (Some(cache), Some(head)));
        device.raw.limits.transfer_bytes = 128 << 10;
        assert_eq!(device_config(&device).limits.piece_bytes(), 128 << 10);
    }

    #[test]
    fn a_device_of_a_host_is_one_for_all_of_its_workloads_and_other_hosts_have_their_own() {
        let (devices, mut device) = (Devices::default(), disk("sda"));
        (device.raw.cache, device.raw.head) = (None, None);
        let mut users =
            [0, 0, 1].map(|host| devices.user(host, &device, || RandomStream::new(1, "device")));
        let request = Request { op: Op::Read, offset: 0, bytes: 512, tag: 0 };
        users.iter_mut().for_each(|user| user.submit(Time::ZERO, request));
        let ends = users.map(|mut user| {
            user.handle_timeout(Time::ZERO + Span::from_us(150));
            user.poll_completion().is_some()
        });
        assert_eq!(ends, [true, false, true], "the second one waits for the first");
    }
}
