//! The tables of a trial.

use super::Table;
use super::processors::run_queues;
use crate::interfaces::InterfaceSeries;
use crate::world::World;
use tailrace_network::{port_series, queue_depth};
use tailrace_plan::Plan;
use tailrace_workloads::outcome::{CutOff, running, tcp_windows, transactions, workload_series};

pub(super) fn tables(plan: &Plan, world: &World, cut_off: &[CutOff]) -> Vec<Table> {
    let (nodes, records) = (&world.switches, &world.links.observe.workloads);
    let series = workload_series(records);
    let tables = [
        transactions(plan, records),
        running(cut_off),
        port_series(plan, nodes),
        series,
        queue_depth(plan, nodes),
    ];
    let windows = world.windows.as_ref().map(|windows| tcp_windows(windows.rows.clone()));
    let interfaces = world.interface_series.as_ref().map(InterfaceSeries::table);
    tables.into_iter().chain(run_queues(plan, world)).chain(windows).chain(interfaces).collect()
}
