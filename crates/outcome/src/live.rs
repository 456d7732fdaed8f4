//! What only trials with real programs on a fabric in real time have: what the machine, the hosts
//! and the programs were like.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters of a kernel by their name.
pub type Counters = BTreeMap<String, i64>;

/// How the programs and the machine of a trial were.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// Between the first and the last workload that began.
    pub begin_skew_ms: f64,
    /// How far apart the beginnings by the clocks of the fabric and of the programs may be.
    pub begun_within_us: u64,
    /// By workload, the ports of its clients; left out where they are not known.
    pub client_ports: BTreeMap<String, Vec<u16>>,
    /// Names of those in use.
    pub congestion_controls: Vec<String>,
    /// By workload, its connections at their ends.
    pub connections: BTreeMap<String, Connections>,
    /// By workload, what it lost because its programs waited for a core.
    pub core_waits: BTreeMap<String, CoreWait>,
    /// By host, what its kernel counted.
    pub counters: BTreeMap<String, Counters>,
    /// By workload, where its connections end; left out where there are none.
    pub ends: BTreeMap<String, Ends>,
    /// By workload, how late its load came on average.
    pub generator_lag_us: BTreeMap<String, f64>,
    /// Of the machine, on nothing, 0 to 1.
    pub idle_share: Option<f64>,
    /// Where interfaces lost frames.
    pub interfaces: Interfaces,
    /// By thread of the kernel, the share of the trial for which it waited for a core.
    pub kernel_wait_share: BTreeMap<String, f64>,
    /// What everything on the machine used.
    pub machine: MachineTimes,
    /// By name, what a neighbour used.
    pub neighbours: BTreeMap<String, SpentTimes>,
    /// By workload, how much later its transactions were than its log says; left out where that is
    /// nothing.
    pub offsets_ps: BTreeMap<String, i64>,
    /// The programs that were run.
    pub programs: LivePrograms,
    /// Pings before the trial, by place.
    pub round_trip_us: BTreeMap<String, RoundTrip>,
    /// By host, the largest resident memory of a server.
    pub server_rss_max_bytes: BTreeMap<String, u64>,
    /// By host, how its kernel was set.
    pub settings: BTreeMap<String, HostSettings>,
    /// Of the connections that were seen; null without any.
    pub smoothed_round_trip_mean_ms: Option<f64>,
    /// Length of the measured interval.
    pub span_s: f64,
    /// By workload of several hosts, between the first and the last of them that began.
    pub start_skew_ms: BTreeMap<String, f64>,
    /// By core, the share that a hypervisor took; null where the kernel does not tell.
    pub steal_by_core: Vec<Option<f64>>,
    /// Of the machine, taken by a hypervisor, 0 to 1.
    pub steal_share: Option<f64>,
    /// What the program that switches used; null where the kernel switches.
    pub switch: Option<SwitchTimes>,
    /// What is to be known of the trial.
    pub warnings: Vec<String>,
    /// Congestion windows of the connections that were seen; null without any.
    pub window_mean_segments: Option<f64>,
}

/// Round trips of a ping, in microseconds. Absent where no answer came.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoundTrip {
    /// The longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The shortest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
}

/// Connections of a workload, as their sending ends knew them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// That ended.
    pub count: u64,
    /// That the workload opened; null where it is not known.
    pub expected: Option<u64>,
    /// That were sent again.
    pub retransmitted_bytes: u64,
    /// The shortest; null where none is known.
    pub round_trip_least_ms: Option<f64>,
    /// The mean; null where none is known.
    pub round_trip_mean_ms: Option<f64>,
}

/// Where the connections of a workload end.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ends {
    /// Host that opens them.
    pub client: String,
    /// Empty for any.
    pub client_ports: Vec<u16>,
    /// Host that accepts them.
    pub server: String,
    /// Of its servers.
    pub server_ports: Vec<u16>,
}

/// What a workload lost because its programs waited for a core.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CoreWait {
    /// Part of the waiting that its users feel, 0 to 1.
    pub exposed: f64,
    /// Time of its users.
    pub of_s: f64,
    /// Of that time, what was lost, 0 to 1.
    pub share: f64,
    /// Taken by a hypervisor.
    pub stolen_s: f64,
    /// For which programs waited.
    pub wait_s: f64,
}

/// What was run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LivePrograms {
    /// Command lines by program.
    pub commands: BTreeMap<String, Vec<String>>,
    /// Configuration files by name.
    pub configurations: BTreeMap<String, String>,
    /// What programs reported themselves, by workload: the last characters.
    pub reports: BTreeMap<String, String>,
}

/// How the kernel of a host was set.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// `on` or `off`, by name.
    pub offloads: BTreeMap<String, String>,
    /// Its route.
    pub route: String,
    /// Those of TCP, by name.
    pub sysctls: BTreeMap<String, String>,
    /// Earlier connections that it remembered: none.
    pub tcp_metrics: u64,
}

/// What programs used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpentTimes {
    /// Switches to another task while they could have gone on.
    pub involuntary_switches: u64,
    /// On system calls.
    pub system_ps: u64,
    /// On the programs.
    pub user_ps: u64,
    /// Switches because they had nothing to do.
    pub voluntary_switches: u64,
}

/// What the program that switches frames used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SwitchTimes {
    /// Switches to another task while they could have gone on.
    pub involuntary_switches: u64,
    /// Its name.
    pub program: String,
    /// On system calls.
    pub system_ps: u64,
    /// On the programs.
    pub user_ps: u64,
    /// Switches because they had nothing to do.
    pub voluntary_switches: u64,
}

/// What everything on the machine used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineTimes {
    /// Of the receive queues of all cores.
    pub backlog: Counters,
    /// Of all cores.
    pub context_switches: u64,
    /// On nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ps: Option<u64>,
    /// On software interrupts.
    pub softirq_ps: u64,
    /// Taken by a hypervisor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ps: Option<u64>,
    /// On system calls.
    pub system_ps: u64,
    /// On programs.
    pub user_ps: u64,
}

/// Counters of interfaces.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interfaces {
    /// By host.
    pub hosts: BTreeMap<String, Counters>,
    /// Of a foreign switch, by name of the interface.
    pub switch: BTreeMap<String, Counters>,
}

/// What lateness did at a port: the difference between the trial and a switch without lateness for
/// the same frames.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatenessEffect {
    /// How long the longest queue of the port takes to drain.
    pub drain_ms: f64,
    /// Drops that happened.
    pub drops: u64,
    /// That were given to the host of the port; 0 at a port between switches.
    pub frames: u64,
    /// Difference of the mean delay; null where no host tells.
    pub mean_ms: Option<f64>,
    /// Difference of the 99th percentiles.
    pub p99_ms: Option<f64>,
    /// Drops of a switch without lateness.
    pub punctual_drops: u64,
    /// Mean delay that comes with each unit of mean lateness added on purpose, 1 where queues do
    /// not react to it.
    pub slope: Option<f64>,
    /// Drops that come with that lateness.
    pub slope_drops: i64,
}
