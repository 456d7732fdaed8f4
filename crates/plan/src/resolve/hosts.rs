//! Checks of the hosts of a plan.

use super::bridging::check_interface;
use super::processors::check_processor;
use crate::error::require;
use crate::{PlanError, RawHost, RawIp};

/// IPv4's smallest datagram that every host must accept, and the largest jumbo MTU of the modelled
/// switches.
pub(crate) const MTU_RANGE: std::ops::RangeInclusive<u32> = 576..=9216;

/// A second; Linux counts `ipfrag_time` in whole ones.
const SECOND_PS: u64 = 1_000_000_000_000;
/// Most seconds of `ipfrag_time`: an hour.
const REASSEMBLY_SECONDS: std::ops::RangeInclusive<u64> = 1..=3_600;
/// Memory for incomplete datagrams: 64 KiB to 1 GiB.
const REASSEMBLY_BYTES: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 30;
const REASSEMBLY_DISTANCE_MAX: u32 = 1 << 16;

fn check_ip(ip: &RawIp, location: &str) -> Result<(), PlanError> {
    let seconds = ip.reassembly_timeout_ps / SECOND_PS;
    let is_whole = ip.reassembly_timeout_ps.is_multiple_of(SECOND_PS);
    require(
        is_whole && REASSEMBLY_SECONDS.contains(&seconds),
        location,
        "ip.reassembly_timeout_ps must be 1 to 3600 whole seconds",
    )?;
    let is_sound = REASSEMBLY_BYTES.contains(&ip.reassembly_memory_bytes);
    require(is_sound, location, "ip.reassembly_memory_bytes must be 65 536 to 1 073 741 824")?;
    require(
        ip.reassembly_distance <= REASSEMBLY_DISTANCE_MAX,
        location,
        "ip.reassembly_distance must be at most 65 536",
    )
}

pub(super) fn check_host(host: &RawHost) -> Result<(), PlanError> {
    let location = &format!("host {}", host.name);
    require(MTU_RANGE.contains(&host.mtu_bytes), location, "mtu_bytes must be 576 to 9216")?;
    require(
        host.nic.queue_bytes > u64::from(host.mtu_bytes),
        location,
        "nic.queue_bytes must be at least one frame",
    )?;
    require(host.nic.rx_ring_frames > 0, location, "nic.rx_ring_frames must be at least 1")?;
    check_interface(host, location)?;
    let is_plain = host.nic.lossless.is_none() && host.cpu.processor.is_none();
    require(
        host.nic.bond.is_none() || is_plain && !host.cpu.has_costs(),
        location,
        "a bond has neither pauses nor costs of receiving",
    )?;
    host.cpu
        .processor
        .as_deref()
        .map_or(Ok(()), |processor| check_processor(processor, location))?;
    host.ip.as_ref().map_or(Ok(()), |ip| check_ip(ip, location))?;
    let tcp = &host.tcp;
    require(
        tcp.initial_window_segments > 0,
        location,
        "tcp.initial_window_segments must be at least 1",
    )?;
    require(
        tcp.rto_min_ps > 0 && tcp.rto_max_ps >= tcp.rto_min_ps,
        location,
        "tcp.rto_min_ps must be above 0 and at most rto_max_ps",
    )?;
    for buffer in [&tcp.send_buffer, &tcp.receive_buffer] {
        let sound = buffer.initial_bytes >= u64::from(host.mtu_bytes)
            && buffer.maximum_bytes >= buffer.initial_bytes;
        require(
            sound,
            location,
            "a socket buffer must hold at least one packet, and its maximum must not be below its initial size",
        )?;
    }
    Ok(())
}
