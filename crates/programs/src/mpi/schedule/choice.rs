//! Which algorithm Open MPI 4.1.4 takes for so many ranks and bytes
//! (`coll_tuned_decision_fixed.c`).

use super::{Collective, ELEMENT, Pattern, Tree};

/// Sizes below the first number are done so; the last row has no end.
type Rows = &'static [(u64, Collective)];
/// Fewer ranks than the first number.
type Table = &'static [(u32, Rows)];

const DOUBLING: Collective = Collective::RecursiveDoubling;
const RING: Collective = Collective::ReduceRing;
const HALVES: Collective = Collective::Rabenseifner;
const LINEAR: Collective = Collective::Linear;
const PAIRWISE: Collective = Collective::Pairwise;
const BRUCK: Collective = Collective::Bruck;
const FLAT: Collective = Collective::Tree(Tree::Flat);
const CHAIN: Collective = Collective::Tree(Tree::Chain);
const BINARY: Collective = Collective::Tree(Tree::Binary);
const BINOMIAL: Collective = Collective::Tree(Tree::Binomial);
const KNOMIAL: Collective = Collective::Tree(Tree::Knomial);
const END: u64 = u64::MAX;

/// The segmented ring has one segment by default, and is the ring.
const ALLREDUCE: Table = &[
    (
        4,
        &[
            (8, RING),
            (4_096, DOUBLING),
            (8_192, RING),
            (16_384, DOUBLING),
            (262_144, RING),
            (END, HALVES),
        ],
    ),
    (8, &[(16, RING), (8_192, DOUBLING), (END, HALVES)]),
    (16, &[(8_192, DOUBLING), (END, HALVES)]),
    (32, &[(64, RING), (4_096, DOUBLING), (END, HALVES)]),
    (64, &[(128, RING), (END, HALVES)]),
    (u32::MAX, &[(262_144, DOUBLING), (END, HALVES)]),
];

/// `linear_sync` without a limit of requests is linear; two ranks swap whatever the name.
const ALLTOALL: Table = &[
    (3, &[(END, PAIRWISE)]),
    (8, &[(524_288, LINEAR), (1_048_576, PAIRWISE), (END, LINEAR)]),
    (16, &[(END, LINEAR)]),
    (32, &[(4, LINEAR), (512, BRUCK), (END, LINEAR)]),
    (64, &[(512, BRUCK), (END, LINEAR)]),
    (u32::MAX, &[(1_024, BRUCK), (262_144, LINEAR), (END, PAIRWISE)]),
];

/// The scatter is followed by a ring here instead of doubling distances: from 16 ranks and 1 MiB
/// on.
const BCAST: Table = &[
    (
        4,
        &[
            (32, CHAIN),
            (256, BINARY),
            (512, CHAIN),
            (1_024, KNOMIAL),
            (32_768, FLAT),
            (131_072, BINARY),
            (262_144, CHAIN),
            (524_288, FLAT),
            (1_048_576, BINOMIAL),
            (END, BINARY),
        ],
    ),
    (
        8,
        &[
            (64, BINARY),
            (128, BINOMIAL),
            (2_048, BINARY),
            (8_192, BINOMIAL),
            (1_048_576, FLAT),
            (END, CHAIN),
        ],
    ),
    (
        16,
        &[
            (8, KNOMIAL),
            (64, BINARY),
            (4_096, KNOMIAL),
            (16_384, BINARY),
            (32_768, BINOMIAL),
            (END, FLAT),
        ],
    ),
    (32, &[(4_096, KNOMIAL), (1_048_576, BINOMIAL), (END, Collective::ScatterRing)]),
    (64, &[(2_048, BINOMIAL), (END, KNOMIAL)]),
    (u32::MAX, &[(END, KNOMIAL)]),
];

/// How a pattern is done; `asked` where the scenario says.
pub fn choose(pattern: Pattern, asked: Option<Collective>, ranks: u32, bytes: u64) -> Collective {
    let collective = asked.unwrap_or_else(|| match pattern {
        Pattern::PingPong => Collective::PingPong,
        Pattern::Ring => Collective::Ring,
        Pattern::Exchange => Collective::Exchange,
        Pattern::Allreduce => find_choice(ALLREDUCE, ranks, bytes),
        Pattern::Alltoall => find_choice(ALLTOALL, ranks, bytes),
        Pattern::Bcast => find_choice(BCAST, ranks, bytes),
        Pattern::Barrier => barrier_of(ranks),
    });
    // Fewer elements than ranks are not cut into parts.
    let is_cut = matches!(collective, Collective::ReduceRing | Collective::Rabenseifner);
    if is_cut && bytes / ELEMENT < ranks.into() {
        Collective::RecursiveDoubling
    } else {
        collective
    }
}

/// How a barrier of so many ranks is done.
pub fn barrier_of(ranks: u32) -> Collective {
    match ranks {
        4..8 => Collective::BarrierLinear,
        64.. => Collective::Dissemination,
        _ => Collective::BarrierDoubling,
    }
}

fn find_choice(table: Table, ranks: u32, bytes: u64) -> Collective {
    let rows = table.iter().find(|&&(end, _)| ranks < end).map_or(&[][..], |&(_, rows)| rows);
    rows.iter().find(|&&(end, _)| bytes < end).expect("the last row has no end").1
}
