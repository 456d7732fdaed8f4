//! What a host of the plan must satisfy.

use super::bridging::check_interface;
use crate::error::require;
use crate::{PlanError, RawHost};

/// IPv4's smallest datagram that every host must accept, and the largest jumbo MTU of the switches we model.
pub(crate) const MTU_RANGE: std::ops::RangeInclusive<u32> = 576..=9216;

pub(super) fn check_host(host: &RawHost) -> Result<(), PlanError> {
    let place = &format!("host {}", host.name);
    require(MTU_RANGE.contains(&host.mtu_bytes), place, "mtu_bytes is 576 to 9216")?;
    require(host.nic.queue_bytes > u64::from(host.mtu_bytes), place, "nic.queue_bytes holds at least one frame")?;
    require(host.nic.rx_ring_frames > 0, place, "nic.rx_ring_frames is at least 1")?;
    check_interface(host, place)?;
    let tcp = &host.tcp;
    require(tcp.initial_window_segments > 0, place, "tcp.initial_window_segments is at least 1")?;
    require(tcp.rto_min_ps > 0 && tcp.rto_max_ps >= tcp.rto_min_ps, place, "tcp.rto_min_ps is above 0 and at most rto_max_ps")?;
    for buffer in [&tcp.send_buffer, &tcp.receive_buffer] {
        let sound = buffer.initial_bytes >= u64::from(host.mtu_bytes) && buffer.maximum_bytes >= buffer.initial_bytes;
        require(sound, place, "a socket buffer holds at least one packet, and its maximum is not below its start")?;
    }
    Ok(())
}
