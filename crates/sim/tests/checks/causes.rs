//! Where the time of transactions went, on cases that can be counted by hand.

use crate::common::*;
use tailrace_plan::*;
use tailrace_sim::{Control, Explained, Explanation, Part, Unexplained, explain, run};
use tailrace_units::Span;

fn explained(raw: RawPlan) -> Explained {
    explain(&Plan::from_raw(raw).expect("the plan is sound")).expect("it can be explained")
}

/// One user who asks a server on the other side of a switch; nothing takes time but links and the server.
fn one_user(response_bytes: u64) -> RawPlan {
    let mut plan = star(3, 1500, 10 * GBPS, 5 * US, switch("sw", 16_000_000, fifo(16_000_000)));
    plan.hosts.iter_mut().for_each(prompt);
    plan.clock_offset_ppb = 0;
    plan.workloads = vec![RawWorkload::from(oltp("oltp", "h1", "h0", 1, 5, response_bytes))];
    plan
}

fn ps(explanation: &Explanation, part: Part) -> u64 {
    explanation.parts.of(part).ps()
}

/// Time of a frame with this payload on a link of 10 Gbit/s: headers of 66 bytes, and 24 around the frame.
fn on_wire(payload_bytes: u64) -> u64 {
    (payload_bytes + 66 + 24) * 800
}

#[test]
fn a_transaction_of_two_frames_is_what_links_and_server_take() {
    let transactions = explained(one_user(1_000)).transactions;
    assert_eq!(transactions.len(), 5);
    for transaction in &transactions[1..] {
        let parts = [Part::Propagation, Part::Serialisation, Part::ServerWork].map(|part| ps(transaction, part));
        assert_eq!(parts, [4 * 5 * US, 2 * on_wire(100) + 2 * on_wire(1_000), 100 * US]);
        assert_eq!(transaction.parts.total(), Span::from_ps(parts.iter().sum()), "nothing else takes time");
        assert_eq!(transaction.window_rounds, 0);
    }
}

#[test]
fn a_response_beyond_the_window_takes_round_trips() {
    let transactions = explained(one_user(100_000)).transactions;
    let first = &transactions[0];
    assert!(first.window_rounds >= 2, "ten segments, then twenty: {first:?}");
    assert!(first.windowed > Span::ZERO && first.windowed < first.parts.total());
}
