//! The tables of a trial.

use super::cut_off::CutOff;
use super::ideal::Ideal;
use super::{Column, Table};
use crate::observe::PortRecord;
use crate::world::World;
use tailrace_plan::Plan;
use tailrace_record::{DepthHistogram, Series};
use tailrace_units::Span;

pub(super) fn tables(plan: &Plan, world: &World, cut_off: &[CutOff]) -> Vec<Table> {
    let ports = &world.roads.observe.ports;
    vec![transactions(plan, world), running(cut_off), port_series(plan, ports), workload_series(world), queue_depth(plan, ports)]
}

fn transactions(plan: &Plan, world: &World) -> Table {
    let (sizes, ideals) = flows(plan, world);
    let rows = || {
        let workloads = world.roads.observe.workloads.iter().enumerate();
        workloads.flat_map(|(index, record)| record.rows.iter().map(move |row| (index as u32, row)))
    };
    Table {
        name: "transactions",
        columns: vec![
            ("workload", Column::U32(rows().map(|(workload, _)| workload).collect())),
            ("user", Column::U32(rows().map(|(_, row)| row.user).collect())),
            ("start_ps", Column::U64(rows().map(|(_, row)| row.start.ps()).collect())),
            ("latency_ps", Column::U64(rows().map(|(_, row)| row.latency.ps()).collect())),
            ("size_bytes", Column::U64(sizes)),
            ("ideal_ps", Column::U64(ideals)),
        ],
    }
}

/// Of each transaction the bytes that its flow carried and the least time for that; 0 where it was no flow of a random size.
fn flows(plan: &Plan, world: &World) -> (Vec<u64>, Vec<u64>) {
    let mut ideal = Ideal::new(plan);
    let (mut sizes, mut ideals) = (Vec::new(), Vec::new());
    for record in &world.roads.observe.workloads {
        sizes.extend(record.carried.iter().map(|flow| flow.bytes));
        ideals.extend(record.carried.iter().map(|flow| ideal.time(flow).ps()));
        let others = record.rows.len() - record.carried.len();
        sizes.extend(std::iter::repeat_n(0, others));
        ideals.extend(std::iter::repeat_n(0, others));
    }
    (sizes, ideals)
}

/// Transactions and flows that the end of the trial cut off.
fn running(cut_off: &[CutOff]) -> Table {
    let rows = || cut_off.iter().zip(0_u32..).flat_map(|(own, index)| own.rows.iter().map(move |row| (index, row)));
    Table {
        name: "cut_off",
        columns: vec![
            ("workload", Column::U32(rows().map(|(workload, _)| workload).collect())),
            ("user", Column::U32(rows().map(|(_, row)| row.user).collect())),
            ("start_ps", Column::U64(rows().map(|(_, row)| row.start.ps()).collect())),
            ("waited_ps", Column::U64(rows().map(|(_, row)| row.latency.ps()).collect())),
        ],
    }
}

/// Index in the summary's list of ports.
fn port_number(plan: &Plan, (node, port): (usize, usize)) -> u32 {
    let before: usize = (plan.graph.hosts..node).map(|earlier| plan.graph.ports[earlier].len()).sum();
    (before + port) as u32
}

/// One bin of time of one observed port.
struct PortBin {
    port: u32,
    bin: u32,
    start_ps: u64,
    queue: (f64, u64),
    tx_bytes: u64,
    drop_frames: u64,
    mark_frames: u64,
}

fn port_bins(port: u32, record: &PortRecord) -> Vec<PortBin> {
    // Series double their bins when something happens late in the run; the widest of a port's four decides.
    let all = [&record.tx_bytes, &record.drop_frames, &record.mark_frames];
    let width = all.iter().map(|series| series.width()).max().unwrap_or_default().max(record.depth.width());
    let [tx, drops, marks] = all.map(|series| rebinned(series, width));
    let depths = rebinned_depths(&record.depth, width);
    let at = |sums: &[u64], bin: usize| sums.get(bin).copied().unwrap_or(0);
    (0..depths.len().max(tx.len()))
        .map(|bin| PortBin {
            port,
            bin: bin as u32,
            start_ps: width.times(bin as u64).ps(),
            queue: depths.get(bin).copied().unwrap_or_default(),
            tx_bytes: at(&tx, bin),
            drop_frames: at(&drops, bin),
            mark_frames: at(&marks, bin),
        })
        .collect()
}

fn rebinned(series: &Series, width: Span) -> Vec<u64> {
    let factor = (width.ps() / series.width().ps()) as usize;
    series.bins().chunks(factor).map(|chunk| chunk.iter().sum()).collect()
}

fn rebinned_depths(depth: &DepthHistogram, width: Span) -> Vec<(f64, u64)> {
    let factor = (width.ps() / depth.width().ps()) as usize;
    let merged = |chunk: &[(f64, u64)]| {
        let mean = chunk.iter().map(|bin| bin.0).sum::<f64>() / factor as f64;
        (mean, chunk.iter().map(|bin| bin.1).max().unwrap_or(0))
    };
    depth.bins().chunks(factor).map(merged).collect()
}

/// The observed ports over time.
pub fn port_series(plan: &Plan, records: &[PortRecord]) -> Table {
    let ports = records.iter().zip(&plan.observed);
    let bins: Vec<PortBin> = ports.flat_map(|(record, &place)| port_bins(port_number(plan, place), record)).collect();
    let narrow = |of: fn(&PortBin) -> u32| Column::U32(bins.iter().map(of).collect());
    let wide = |of: fn(&PortBin) -> u64| Column::U64(bins.iter().map(of).collect());
    Table {
        name: "port_series",
        columns: vec![
            ("port", narrow(|bin| bin.port)),
            ("bin", narrow(|bin| bin.bin)),
            ("start_ps", wide(|bin| bin.start_ps)),
            ("queue_mean_bytes", Column::F64(bins.iter().map(|bin| bin.queue.0).collect())),
            ("queue_max_bytes", wide(|bin| bin.queue.1)),
            ("tx_bytes", wide(|bin| bin.tx_bytes)),
            ("drop_frames", wide(|bin| bin.drop_frames)),
            ("mark_frames", wide(|bin| bin.mark_frames)),
        ],
    }
}

fn workload_series(world: &World) -> Table {
    let rows = || {
        let workloads = world.roads.observe.workloads.iter().zip(0_u32..);
        let series = workloads.filter_map(|(record, index)| Some((index, record.goodput.as_ref()?)));
        series.flat_map(|(index, series)| series.bins().iter().zip(0_u32..).map(move |(&bytes, bin)| (index, series, bin, bytes)))
    };
    Table {
        name: "workload_series",
        columns: vec![
            ("workload", Column::U32(rows().map(|row| row.0).collect())),
            ("bin", Column::U32(rows().map(|row| row.2).collect())),
            ("start_ps", Column::U64(rows().map(|row| row.1.width().times(u64::from(row.2)).ps()).collect())),
            ("goodput_bytes", Column::U64(rows().map(|row| row.3).collect())),
        ],
    }
}

/// How long the observed ports stood at each depth.
pub fn queue_depth(plan: &Plan, records: &[PortRecord]) -> Table {
    let rows = || {
        let ports = records.iter().zip(&plan.observed);
        ports.flat_map(|(record, &place)| {
            let number = port_number(plan, place);
            record.depth.buckets().into_iter().map(move |bucket| (number, bucket))
        })
    };
    Table {
        name: "queue_depth",
        columns: vec![
            ("port", Column::U32(rows().map(|(number, _)| number).collect())),
            ("depth_bytes", Column::U64(rows().map(|(_, bucket)| bucket.0).collect())),
            ("time_ps", Column::U64(rows().map(|(_, bucket)| bucket.1).collect())),
        ],
    }
}
