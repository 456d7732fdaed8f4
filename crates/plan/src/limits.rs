//! The limits of a plan by name, for the lab, which rejects a scenario whose plan would be
//! rejected.

use crate::resolve::{CLOCK_OFFSET_PPB_MAX, bridging, hosts, policies};
use crate::tree::{self, choice};
use crate::workloads::{datagrams, distribution, oltp, storage, stream};

/// Every limit against which scenarios are checked as well; names end in the unit.
pub fn limits() -> Vec<(&'static str, u64)> {
    vec![
        ("clock_offset_ppb_max", CLOCK_OFFSET_PPB_MAX.into()),
        ("connection_bps_min", stream::CONNECTION_BPS_MIN),
        ("datagram_bytes_max", datagrams::PAYLOAD_MAX.into()),
        ("erlang_shape_max", distribution::ERLANG_SHAPE_MAX.into()),
        ("flow_table_entries_min", policies::TABLE_ENTRIES_MIN.into()),
        ("mtu_bytes_max", (*hosts::MTU_RANGE.end()).into()),
        ("mtu_bytes_min", (*hosts::MTU_RANGE.start()).into()),
        ("oltp_pieces_max", oltp::PIECES_MAX),
        ("oltp_statements_max", oltp::STATEMENTS_MAX as u64),
        ("qcn_set_point_bytes_min", bridging::SET_POINT_MIN),
        ("storage_under_way_max", storage::UNDER_WAY_MAX),
        ("trap_entries_min", bridging::TRAP_ENTRIES_MIN.into()),
        ("tree_bridge_priority_step", tree::BRIDGE_PRIORITY_STEP.into()),
        ("tree_links_max", choice::LINKS_MAX as u64),
        ("tree_path_cost_max", tree::PATH_COST_MAX.into()),
        ("tree_port_priority_step", tree::PORT_PRIORITY_STEP.into()),
        ("tree_switches_max", choice::SWITCHES_MAX as u64),
        ("trees_max", tree::TREES_MAX as u64),
        ("vlan_max", tailrace_wire::VLAN_MAX.into()),
        ("weight_milli_max", policies::WEIGHT_MILLI_MAX.into()),
    ]
}
