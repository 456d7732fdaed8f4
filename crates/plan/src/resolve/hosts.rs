//! Checks of the hosts of a plan.

use super::bridging::check_interface;
use super::processors::check_processor;
use crate::error::require;
use crate::{PlanError, RawHost};

/// IPv4's smallest datagram that every host must accept, and the largest jumbo MTU of the modelled switches.
pub(crate) const MTU_RANGE: std::ops::RangeInclusive<u32> = 576..=9216;

pub(super) fn check_host(host: &RawHost) -> Result<(), PlanError> {
    let place = &format!("host {}", host.name);
    require(MTU_RANGE.contains(&host.mtu_bytes), place, "mtu_bytes must be 576 to 9216")?;
    require(host.nic.queue_bytes > u64::from(host.mtu_bytes), place, "nic.queue_bytes must be at least one frame")?;
    require(host.nic.rx_ring_frames > 0, place, "nic.rx_ring_frames must be at least 1")?;
    check_interface(host, place)?;
    let is_plain = host.nic.lossless.is_none() && host.cpu.processor.is_none();
    require(
        host.nic.bond.is_none() || is_plain && !host.cpu.has_costs(),
        place,
        "a bond has neither pauses nor costs of receiving",
    )?;
    host.cpu.processor.as_deref().map_or(Ok(()), |processor| check_processor(processor, place))?;
    let tcp = &host.tcp;
    require(tcp.initial_window_segments > 0, place, "tcp.initial_window_segments must be at least 1")?;
    require(
        tcp.rto_min_ps > 0 && tcp.rto_max_ps >= tcp.rto_min_ps,
        place,
        "tcp.rto_min_ps must be above 0 and at most rto_max_ps",
    )?;
    for buffer in [&tcp.send_buffer, &tcp.receive_buffer] {
        let sound = buffer.initial_bytes >= u64::from(host.mtu_bytes) && buffer.maximum_bytes >= buffer.initial_bytes;
        require(
            sound,
            place,
            "a socket buffer must hold at least one packet, and its maximum must not be below its initial size",
        )?;
    }
    Ok(())
}
