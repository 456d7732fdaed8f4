//! The tables of observed ports.

use crate::{NetworkFrame, PortRecord, SwitchNode};
use tailrace_plan::Plan;
use tailrace_record::{Column, DepthHistogram, Series, Table};
use tailrace_units::Span;

/// The records of observed ports with their indices, in the order of the plan, each once.
fn records<'a, F: NetworkFrame>(
    plan: &'a Plan,
    nodes: &'a [SwitchNode<F>],
) -> impl Iterator<Item = (u32, &'a PortRecord)> {
    let observed = plan
        .observed
        .iter()
        .enumerate()
        .filter(|&(place, &(node, port))| plan.record_of(node, port) == Some(place));
    observed.map(|(_, &(node, port))| {
        let record =
            nodes[node - plan.graph.hosts].record(port).expect("an observed port has a record");
        (port_number(plan, (node, port)), record)
    })
}

/// Index in the summary's list of ports.
fn port_number(plan: &Plan, (node, port): (usize, usize)) -> u32 {
    let before: usize =
        (plan.graph.hosts..node).map(|earlier| plan.graph.ports[earlier].len()).sum();
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
    // Series double their bins when something happens late in the run; the widest of a port's four
    // decides.
    let all = [&record.tx_bytes, &record.drop_frames, &record.mark_frames];
    let width =
        all.iter().map(|series| series.width()).max().unwrap_or_default().max(record.depth.width());
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
pub fn port_series<F: NetworkFrame>(plan: &Plan, nodes: &[SwitchNode<F>]) -> Table {
    let bins: Vec<PortBin> =
        records(plan, nodes).flat_map(|(port, record)| port_bins(port, record)).collect();
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

/// How long the observed ports stood at each depth.
pub fn queue_depth<F: NetworkFrame>(plan: &Plan, nodes: &[SwitchNode<F>]) -> Table {
    let buckets = |(number, record): (u32, &PortRecord)| {
        record.depth.buckets().into_iter().map(move |bucket| (number, bucket))
    };
    let rows = || records(plan, nodes).flat_map(buckets);
    Table {
        name: "queue_depth",
        columns: vec![
            ("port", Column::U32(rows().map(|(number, _)| number).collect())),
            ("depth_bytes", Column::U64(rows().map(|(_, bucket)| bucket.0).collect())),
            ("time_ps", Column::U64(rows().map(|(_, bucket)| bucket.1).collect())),
        ],
    }
}
