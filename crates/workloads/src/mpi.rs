//! Ranks of an MPI job: the program of each host, and the report of each size.

use crate::{Engine, Followed, Kind, WorkloadContext, WorkloadProgram, WorkloadRecord};
use std::sync::Arc;
use tailrace_outcome::{MpiSize, MpiTimes, Workload};
use tailrace_plan::{Algorithm, Mpi, MpiPattern, RawObserve, variants};
use tailrace_programs::schedule::{self, Collective, Pattern, Tree};
use tailrace_programs::{Job, Ledger, MpiConfig, MpiCosts, MpiHost, Peer, Size};
use tailrace_units::{RandomStream, Span, Time};

impl Kind for Mpi {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let (active, pattern) = (self.active(), pattern(self.raw.pattern));
        let timed = (0..active).filter(|&rank| pattern.is_timed_by(rank)).count() as u64;
        let total = self.raw.iterations.iter().sum::<u64>() * timed;
        let mut record = WorkloadRecord::new(observe, active as usize, active.into(), total);
        record.keep_sums(self.raw.sizes_bytes.len() * active as usize);
        record
    }

    fn followed(&self) -> Followed {
        Followed::Peers
    }

    fn programs(&self) -> usize {
        self.hosts.len()
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let (job, ledger, port) = (Arc::new(self.job()), Ledger::default(), context.header.port);
        for &host in &self.hosts {
            let ranks = self.ranks_of(host, context);
            let finishes = ranks.len() as u64;
            let program = MpiHost::new(MpiConfig {
                host: host as u16,
                port,
                job: Arc::clone(&job),
                ledger: ledger.clone(),
                peers: self.ranks[..self.active() as usize]
                    .iter()
                    .map(|&host| Peer { host: host as u16, port })
                    .collect(),
                ranks,
                start: Time::from_ps(context.header.start_ps),
            });
            let (workload, program) = (context.number, Box::new(program));
            engine.start(WorkloadProgram {
                workload,
                host: host as u32,
                program,
                counts_goodput: true,
                port: Some(port),
                finishes,
            });
        }
    }

    fn add_details(&self, record: &WorkloadRecord, outcome: &mut Workload) {
        let active = self.active() as usize;
        let size = |(at, (&bytes, &planned)): (usize, (&u64, &u64))| {
            let sums: Vec<_> = record.sums[at * active..(at + 1) * active]
                .iter()
                .filter(|sum| sum.count > 0)
                .collect();
            MpiSize {
                bytes,
                planned,
                repetitions: sums.iter().map(|sum| sum.count).max().unwrap_or(0),
                ranks: sums.len() as u64,
                algorithm: format!("{:?}", self.collective(bytes)),
                mean_of_ranks_ps: sums.iter().map(|sum| sum.mean_ps()).collect(),
                min_ps: sums.iter().map(|sum| sum.min_ps).min(),
                max_ps: sums.iter().map(|sum| sum.max_ps).max(),
            }
        };
        let sizes =
            self.raw.sizes_bytes.iter().zip(&self.raw.iterations).enumerate().map(size).collect();
        let pattern = variants::<MpiPattern>()[self.raw.pattern as usize].to_owned();
        outcome.mpi_times = Some(MpiTimes { pattern, ranks: self.active().into(), sizes });
    }
}

trait Parts {
    fn active(&self) -> u32;
    fn collective(&self, bytes: u64) -> Collective;
    fn job(&self) -> Job;
    fn ranks_of(&self, host: usize, context: &WorkloadContext<'_>) -> Vec<(u32, RandomStream)>;
}

impl Parts for Mpi {
    /// Ranks that take part.
    fn active(&self) -> u32 {
        pattern(self.raw.pattern).active(self.ranks.len() as u32)
    }

    fn collective(&self, bytes: u64) -> Collective {
        let asked = self.raw.algorithm.map(|algorithm| asked(self.raw.pattern, algorithm));
        schedule::choose(pattern(self.raw.pattern), asked, self.active(), bytes)
    }

    fn job(&self) -> Job {
        let raw = &self.raw;
        let size =
            |(&bytes, &iterations)| Size { bytes, iterations, collective: self.collective(bytes) };
        Job {
            pattern: pattern(raw.pattern),
            sizes: raw.sizes_bytes.iter().zip(&raw.iterations).map(size).collect(),
            warm_up: raw.warm_up_iterations,
            is_synchronised: pattern(raw.pattern).is_synchronised(),
            compute: self.compute.clone(),
            barrier: schedule::barrier_of(self.active()),
            ranks: self.active(),
            eager_limit: raw.eager_limit_bytes,
            costs: MpiCosts {
                send: Span::from_ps(raw.send_overhead_ps),
                receive: Span::from_ps(raw.receive_overhead_ps),
                copy: self.copy,
                combine: self.combine,
                local_latency: Span::from_ps(raw.local_latency_ps),
                local: self.local,
            },
        }
    }

    /// The ranks of a host that take part, with their random streams.
    fn ranks_of(&self, host: usize, context: &WorkloadContext<'_>) -> Vec<(u32, RandomStream)> {
        let ranks = (0..self.active()).zip(&self.ranks).filter(|&(_, &own)| own == host);
        ranks.map(|(rank, _)| (rank, context.random(&format!("{rank}/compute")))).collect()
    }
}

fn pattern(raw: MpiPattern) -> Pattern {
    match raw {
        MpiPattern::Pingpong => Pattern::PingPong,
        MpiPattern::Ring => Pattern::Ring,
        MpiPattern::Exchange => Pattern::Exchange,
        MpiPattern::Allreduce => Pattern::Allreduce,
        MpiPattern::Alltoall => Pattern::Alltoall,
        MpiPattern::Bcast => Pattern::Bcast,
        MpiPattern::Barrier => Pattern::Barrier,
    }
}

/// How a scenario wants a pattern to be done; the plan allows each pattern its own algorithms.
fn asked(pattern: MpiPattern, algorithm: Algorithm) -> Collective {
    let is_barrier = pattern == MpiPattern::Barrier;
    match algorithm {
        Algorithm::RecursiveDoubling if is_barrier => Collective::BarrierDoubling,
        Algorithm::RecursiveDoubling => Collective::RecursiveDoubling,
        Algorithm::Ring => Collective::ReduceRing,
        Algorithm::Rabenseifner => Collective::Rabenseifner,
        Algorithm::Linear if is_barrier => Collective::BarrierLinear,
        Algorithm::Linear if pattern == MpiPattern::Bcast => Collective::Tree(Tree::Flat),
        Algorithm::Linear => Collective::Linear,
        Algorithm::Pairwise => Collective::Pairwise,
        Algorithm::Bruck if is_barrier => Collective::Dissemination,
        Algorithm::Bruck => Collective::Bruck,
        Algorithm::Chain => Collective::Tree(Tree::Chain),
        Algorithm::Binary => Collective::Tree(Tree::Binary),
        Algorithm::Binomial => Collective::Tree(Tree::Binomial),
        Algorithm::Knomial => Collective::Tree(Tree::Knomial),
        Algorithm::ScatterRing => Collective::ScatterRing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_plan::{RawDistribution, RawMpi};
    use tailrace_units::{BitRate, Distribution};

    fn mpi(pattern: MpiPattern, algorithm: Option<Algorithm>) -> Mpi {
        let raw = RawMpi {
            pattern,
            ranks: vec!["h0".to_owned(), "h1".to_owned(), "h0".to_owned()],
            sizes_bytes: vec![8, 9],
            iterations: vec![5, 6],
            warm_up_iterations: 4,
            compute: RawDistribution::Constant(0),
            algorithm,
            eager_limit_bytes: 65_480,
            send_overhead_ps: 1,
            receive_overhead_ps: 2,
            copy_bps: 3_000_000_000,
            combine_bps: 4_000_000_000,
            local_latency_ps: 5,
            local_bps: 6_000_000_000,
        };
        let rate = |gbps: u64| Some(BitRate::from_gbps(gbps));
        let (copy, combine, local) = (rate(3), rate(4), rate(6));
        Mpi {
            ranks: vec![0, 1, 0],
            hosts: vec![0, 1],
            compute: Distribution::Constant(0),
            copy,
            combine,
            local,
            raw,
        }
    }

    #[test]
    fn the_library_takes_what_the_plan_says() {
        let job = mpi(MpiPattern::Ring, None).job();
        let MpiCosts { send, receive, copy, combine, local_latency, local } = job.costs;
        assert_eq!([send, receive, local_latency], [1, 2, 5].map(Span::from_ps));
        assert_eq!([copy, combine, local], [3, 4, 6].map(|gbps| Some(BitRate::from_gbps(gbps))));
        assert_eq!((job.warm_up, job.eager_limit, job.ranks), (4, 65_480, 3));
        assert_eq!(
            job.sizes.iter().map(|size| (size.bytes, size.iterations)).collect::<Vec<_>>(),
            [(8, 5), (9, 6)]
        );
        assert_eq!(mpi(MpiPattern::Pingpong, None).job().ranks, 2, "the third takes no part");
    }

    #[test]
    fn an_algorithm_means_what_its_pattern_knows_by_that_name() {
        let done = |pattern, algorithm| mpi(pattern, Some(algorithm)).collective(4_096);
        assert_eq!(done(MpiPattern::Bcast, Algorithm::Linear), Collective::Tree(Tree::Flat));
        assert_eq!(done(MpiPattern::Alltoall, Algorithm::Linear), Collective::Linear);
        assert_eq!(done(MpiPattern::Barrier, Algorithm::Linear), Collective::BarrierLinear);
        assert_eq!(
            done(MpiPattern::Barrier, Algorithm::RecursiveDoubling),
            Collective::BarrierDoubling
        );
        assert_eq!(
            done(MpiPattern::Allreduce, Algorithm::RecursiveDoubling),
            Collective::RecursiveDoubling
        );
        assert_eq!(done(MpiPattern::Barrier, Algorithm::Bruck), Collective::Dissemination);
        assert_eq!(done(MpiPattern::Alltoall, Algorithm::Bruck), Collective::Bruck);
    }
}
