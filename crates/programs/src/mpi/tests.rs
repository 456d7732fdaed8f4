//! Ranks alone: their schedules with perfect messages, and the protocol between two hosts without a
//! network.

mod protocol;

use super::schedule::{
    Collective, CommRank, ELEMENT, Pattern, RANKS_MAX, ScheduleStep, Tree, barrier_of, choose,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const TREES: [Tree; 5] = [Tree::Flat, Tree::Chain, Tree::Binary, Tree::Binomial, Tree::Knomial];

/// Powers of two, their neighbours, and others.
fn ranks() -> impl Iterator<Item = u32> {
    (2..=33).chain([47, 63, 64, 65, 100, RANKS_MAX])
}

fn allreduces() -> [Collective; 3] {
    [Collective::RecursiveDoubling, Collective::ReduceRing, Collective::Rabenseifner]
}

fn bcasts() -> Vec<Collective> {
    TREES.into_iter().map(Collective::Tree).chain([Collective::ScatterRing]).collect()
}

/// Results of all ranks, with messages that take no time and wait for their receives.
struct Done {
    /// The ranks that each has heard of, itself among them.
    heard: Vec<BTreeSet<u32>>,
    /// Steps with messages, of the rank with most.
    steps: u32,
    /// Bytes that each has received.
    received: Vec<u64>,
    /// Bytes that each has sent.
    sent: Vec<u64>,
    /// Bytes that each has combined with its own.
    combined: Vec<u64>,
}

/// Bytes of a message, and what its sender had heard.
type Heard = (u64, BTreeSet<u32>);

/// One rank of [`play`].
#[derive(Default)]
struct Player {
    next: u32,
    step: ScheduleStep,
    is_over: bool,
    got: usize,
}

/// Messages of a pair arrive in order, as what their sender had heard when it sent them.
fn play(collective: Collective, ranks: u32, bytes: u64) -> Done {
    let own = |rank: u32| CommRank { rank, ranks };
    let mut players: Vec<Player> = (0..ranks).map(|_| Player::default()).collect();
    let mut done = Done {
        heard: (0..ranks).map(|rank| BTreeSet::from([rank])).collect(),
        steps: 0,
        received: vec![0; ranks as usize],
        sent: vec![0; ranks as usize],
        combined: vec![0; ranks as usize],
    };
    let mut steps = vec![0_u32; ranks as usize];
    let mut wires: BTreeMap<(u32, u32), VecDeque<Heard>> = BTreeMap::new();
    loop {
        let mut has_moved = false;
        for rank in 0..ranks {
            let at = rank as usize;
            while !players[at].is_over {
                let player = &mut players[at];
                if player.got == player.step.receives.len() {
                    let number = player.next;
                    player.is_over = !collective.step(own(rank), bytes, number, &mut player.step);
                    (player.next, player.got, has_moved) = (number + 1, 0, true);
                    let is_idle = player.step.sends.is_empty() && player.step.receives.is_empty();
                    steps[at] += u32::from(!player.is_over && !is_idle);
                    done.combined[at] += player.step.combine;
                    for &(to, bytes) in &player.step.sends {
                        assert!(
                            to < ranks && to != rank,
                            "{collective:?} of {ranks}: {rank} sends to {to}"
                        );
                        done.sent[at] += bytes;
                        wires
                            .entry((rank, to))
                            .or_default()
                            .push_back((bytes, done.heard[at].clone()));
                    }
                    continue;
                }
                let (from, expected) = player.step.receives[player.got];
                let Some((bytes, heard)) = wires.entry((from, rank)).or_default().pop_front()
                else {
                    break;
                };
                assert_eq!(bytes, expected, "{collective:?} of {ranks}: from {from} to {rank}");
                (player.got, has_moved) = (player.got + 1, true);
                done.received[at] += bytes;
                done.heard[at].extend(heard);
            }
        }
        if !has_moved {
            break;
        }
    }
    assert!(
        players.iter().all(|player| player.is_over),
        "{collective:?} of {ranks} ranks is stuck"
    );
    assert!(
        wires.values().all(VecDeque::is_empty),
        "{collective:?} of {ranks}: a message was not received"
    );
    done.steps = steps.into_iter().max().unwrap_or(0);
    done
}

fn ceil_log2(ranks: u32) -> u32 {
    ranks.next_power_of_two().ilog2()
}

#[test]
fn after_an_allreduce_each_has_heard_of_all() {
    for ranks in ranks() {
        for collective in allreduces() {
            for bytes in [ELEMENT * u64::from(ranks), 4_000, 4_004] {
                let done = play(collective, ranks, bytes.max(ELEMENT * u64::from(ranks)));
                assert!(
                    done.heard.iter().all(|heard| heard.len() == ranks as usize),
                    "{collective:?} of {ranks}, {bytes} bytes"
                );
            }
        }
    }
}

#[test]
fn allreduce_takes_the_steps_and_bytes_of_theory() {
    for levels in 1..=6 {
        let (ranks, bytes) = (1 << levels, 64 * 1_024);
        let others = u64::from(ranks - 1) * bytes / u64::from(ranks);
        let doubling = play(Collective::RecursiveDoubling, ranks, bytes);
        assert_eq!((doubling.steps, doubling.sent[0]), (levels, u64::from(levels) * bytes));
        let ring = play(Collective::ReduceRing, ranks, bytes);
        assert_eq!((ring.steps, ring.sent[0]), (2 * (ranks - 1), 2 * others));
        let halves = play(Collective::Rabenseifner, ranks, bytes);
        assert_eq!((halves.steps, halves.sent[0]), (2 * levels, 2 * others), "2 log2 P steps");
    }
    // 1001 elements are no multiple of the ranks: each part goes round twice all the same.
    let uneven = play(Collective::ReduceRing, 3, 4_004);
    assert_eq!(uneven.sent.iter().sum::<u64>(), 2 * 2 * 4_004);
    let folded = play(Collective::RecursiveDoubling, 6, 1_000);
    assert_eq!(
        folded.steps, 4,
        "two among four, and one before and after for those that are folded"
    );
}

#[test]
fn allreduce_combines_received_data_and_not_announcements() {
    for levels in 1..=6_u32 {
        let (ranks, bytes) = (1_u32 << levels, 64 * 1_024);
        let others = u64::from(ranks - 1) * bytes / u64::from(ranks);
        let combined = |collective: Collective| play(collective, ranks, bytes).combined;
        assert_eq!(
            combined(Collective::RecursiveDoubling),
            vec![u64::from(levels) * bytes; ranks as usize]
        );
        assert_eq!(combined(Collective::ReduceRing), vec![others; ranks as usize]);
        assert_eq!(combined(Collective::Rabenseifner), vec![others; ranks as usize]);
    }
}

#[test]
fn after_a_barrier_each_has_heard_of_all() {
    for ranks in ranks() {
        for collective in
            [Collective::BarrierLinear, Collective::BarrierDoubling, Collective::Dissemination]
        {
            let done = play(collective, ranks, 0);
            assert!(
                done.heard.iter().all(|heard| heard.len() == ranks as usize),
                "{collective:?} of {ranks}"
            );
        }
        assert_eq!(
            play(Collective::Dissemination, ranks, 0).steps,
            ceil_log2(ranks),
            "⌈log2 {ranks}⌉"
        );
        let folded = if ranks.is_power_of_two() { 0 } else { 2 };
        assert_eq!(play(Collective::BarrierDoubling, ranks, 0).steps, ranks.ilog2() + folded);
    }
}

#[test]
fn after_an_alltoall_each_has_what_all_had_for_it() {
    for ranks in ranks() {
        let others = u64::from(ranks - 1);
        for collective in [Collective::Linear, Collective::Pairwise, Collective::Bruck] {
            let done = play(collective, ranks, 100);
            assert!(
                done.heard.iter().all(|heard| heard.len() == ranks as usize),
                "{collective:?} of {ranks}"
            );
            assert_eq!(done.sent, done.received, "{collective:?} of {ranks}");
            // Bruck's blocks travel once for each bit of their distance.
            let hops = (1..ranks).map(|distance: u32| u64::from(distance.count_ones())).sum();
            let blocks = if collective == Collective::Bruck { hops } else { others };
            assert!(
                done.received.iter().all(|&received| received == blocks * 100),
                "{collective:?} of {ranks}"
            );
        }
        assert_eq!(play(Collective::Pairwise, ranks, 1).steps, ranks - 1);
        assert_eq!(play(Collective::Bruck, ranks, 1).steps, ceil_log2(ranks));
    }
}

#[test]
fn a_broadcast_reaches_all_and_each_receives_it_once() {
    for ranks in ranks() {
        for collective in bcasts() {
            let done = play(collective, ranks, 1 << 20);
            assert!(done.heard.iter().all(|heard| heard.contains(&0)), "{collective:?} of {ranks}");
            if let Collective::Tree(_) = collective {
                let expected = |rank: usize| if rank == 0 { 0 } else { 1 << 20 };
                assert!(
                    done.received.iter().enumerate().all(|(rank, &got)| got == expected(rank)),
                    "{collective:?} of {ranks}"
                );
            } else {
                let least = (1 << 20) - (1_u64 << 20).div_ceil(ranks.into());
                assert!(
                    done.received[1..].iter().all(|&got| got >= least),
                    "{ranks} ranks gather all parts"
                );
            }
        }
    }
}

#[test]
fn the_root_of_a_tree_sends_to_as_many_as_its_shape_says() {
    // Of 64 ranks: three of each of three digits of base 4, or one for each of six bits.
    let expected = [
        (Tree::Flat, 63),
        (Tree::Chain, 1),
        (Tree::Binary, 2),
        (Tree::Binomial, 6),
        (Tree::Knomial, 9),
    ];
    expected.into_iter().for_each(|(tree, children)| {
        assert_eq!(play(Collective::Tree(tree), 64, 10).sent[0], children * 10, "{tree:?}");
    });
}

#[test]
fn only_the_first_rank_of_a_ping_pong_reports_its_times() {
    let timed_ranks =
        |pattern: Pattern| (0..3).map(|rank| pattern.is_timed_by(rank)).collect::<Vec<bool>>();
    assert_eq!(
        (timed_ranks(Pattern::PingPong), timed_ranks(Pattern::Allreduce)),
        (vec![true, false, false], vec![true; 3])
    );
}

#[test]
fn the_choice_is_that_of_open_mpi() {
    use Collective::{
        Bruck, Linear, Pairwise, Rabenseifner, RecursiveDoubling, ReduceRing, ScatterRing,
    };
    for (ranks, bytes, expected) in [
        (2, 4_096, ReduceRing),
        (3, 4, RecursiveDoubling),
        (4, 8_191, RecursiveDoubling),
        (4, 8_192, Rabenseifner),
        (8, 8_192, Rabenseifner),
        (16, 32, RecursiveDoubling),
        (64, 262_143, RecursiveDoubling),
    ] {
        assert_eq!(
            choose(Pattern::Allreduce, None, ranks, bytes),
            expected,
            "{ranks} ranks, {bytes} bytes"
        );
    }
    for (ranks, bytes, expected) in [
        (2, 1, Pairwise),
        (4, 524_288, Pairwise),
        (8, 1, Linear),
        (16, 256, Bruck),
        (100, 1 << 20, Pairwise),
    ] {
        assert_eq!(
            choose(Pattern::Alltoall, None, ranks, bytes),
            expected,
            "{ranks} ranks, {bytes} bytes"
        );
    }
    for (ranks, bytes, expected) in [
        (4, 1 << 20, Collective::Tree(Tree::Chain)),
        (8, 4_095, Collective::Tree(Tree::Knomial)),
        (8, 1 << 20, Collective::Tree(Tree::Flat)),
        (16, 1 << 20, ScatterRing),
    ] {
        assert_eq!(
            choose(Pattern::Bcast, None, ranks, bytes),
            expected,
            "{ranks} ranks, {bytes} bytes"
        );
    }
    let barriers = [
        (2, Collective::BarrierDoubling),
        (4, Collective::BarrierLinear),
        (8, Collective::BarrierDoubling),
        (64, Collective::Dissemination),
    ];
    barriers
        .into_iter()
        .for_each(|(ranks, expected)| assert_eq!(barrier_of(ranks), expected, "{ranks} ranks"));
}
