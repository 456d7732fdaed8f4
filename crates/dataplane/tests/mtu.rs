//! Frames that are longer than a port's MTU allows.

mod common;
use common::*;
use proptest::prelude::*;
use tailrace_dataplane::*;
use tailrace_units::{Span, Time};

/// A switch of three ports; port 1 takes 1514 bytes, port 2 9014.
fn unequal() -> Switch<TestFrame> {
    let mut switch = switch(1 << 20, vec![fifo(Limit::Bytes(1 << 19)); 3], false);
    switch.limit_frames(vec![None, Some(1_514), Some(9_014)]);
    switch
}

fn long(id: u64, bytes: u32, destination: u32) -> TestFrame {
    TestFrame { destination, ..frame(id, bytes, 7) }
}

#[test]
fn a_frame_above_the_mtu_is_dropped_at_the_port_that_is_too_small_for_it() {
    let (mut switch, mut notes) = (unequal(), Notebook::default());
    // From port 0, which takes any length, to each port; then from the small port, whose receiver
    // discards it before it is known where it goes.
    let arrivals = [
        (0, 1_514, 1),
        (0, 1_515, 1),
        (0, 9_014, 2),
        (0, 9_015, 2),
        (1, 1_515, 2),
        (2, 9_014, 1),
        (2, 9_015, 0),
    ];
    for (id, (in_port, bytes, destination)) in (0..).zip(arrivals) {
        switch.handle_frame(Time::ZERO, in_port, &mut long(id, bytes, destination), &mut notes);
    }
    let dropped: Vec<_> =
        notes.dropped.iter().map(|&(_, port, id, cause)| (id, port, cause)).collect();
    let mtu = DropCause::Mtu;
    assert_eq!(dropped, [(1, 1, mtu), (3, 2, mtu), (4, 1, mtu), (5, 1, mtu), (6, 2, mtu)]);
    let drops = |ingress_frames, egress_frames| Some(MtuDrops { ingress_frames, egress_frames });
    assert_eq!([0, 1, 2].map(|port| switch.mtu_drops(port)), [None, drops(1, 2), drops(1, 1)]);
    assert_eq!(switch.early_drops().drops.of(mtu).frames, 5);
    switch.handle_timeout(Time::ZERO + Span::from_ms(1), &mut notes);
    switch.begin_counting(Time::ZERO + Span::from_ms(1));
    assert_eq!(switch.mtu_drops(1), drops(0, 0));
}

proptest! {
    /// A frame leaves if and only if both ports are large enough, and no port counts one twice.
    #[test]
    fn every_frame_is_sent_or_counted_once(
        mtus in proptest::collection::vec(proptest::option::of(576_u32..2_000), 3),
        frames in proptest::collection::vec((0_usize..3, 64_u32..2_100, 0_u32..3), 1..60),
    ) {
        let (mut switch, mut notes) =
            (switch(1 << 24, vec![fifo(Limit::Bytes(1 << 23)); 3], false), Notebook::default());
        switch.limit_frames(mtus.clone());
        let mut fitting = 0;
        for (id, &(in_port, bytes, destination)) in (0..).zip(&frames) {
            let fits = |port: usize| mtus[port].is_none_or(|most| bytes <= most);
            fitting += usize::from(fits(in_port) && fits(destination as usize));
            switch.handle_frame(Time::ZERO, in_port, &mut long(id, bytes, destination), &mut notes);
        }
        let counted: u64 = (0..3)
            .filter_map(|port| switch.mtu_drops(port))
            .map(|own| own.ingress_frames + own.egress_frames)
            .sum();
        prop_assert_eq!(notes.sent.len(), fitting);
        prop_assert_eq!(counted as usize, frames.len() - fitting);
    }
}
