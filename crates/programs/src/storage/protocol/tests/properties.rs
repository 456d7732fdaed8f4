//! Whatever the ends have agreed on, and in whatever order the device answers.

use super::super::{Headers, Immediate, PduKind, Rules, Served, SetupMessage};
use super::Session;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tailrace_blockdev::{Op, Request};
use tailrace_units::{RandomStream, Span, Time};

fn rules() -> impl Strategy<Value = Rules> {
    let sizes = (1_u32..40, 1_u32..40, 1_u32..40, 0_u32..60, 0_u32..60);
    let counts = (1_u32..4, 1_u32..6, 1_u32..6, any::<[bool; 4]>());
    (sizes, counts, 0_u32..3).prop_map(
        |(
            (data_out, data_in, burst, first_burst, immediate),
            (outstanding, commands, requests, flags),
            steps,
        )| {
            let [has_digests, is_whole, is_status_with_data, counts_unanswered] = flags;
            let digest = if has_digests { 4 } else { 0 };
            let step =
                |number| SetupMessage { is_from_initiator: number % 2 == 0, bytes: 7 + number };
            Rules {
                set_up: (0..steps).map(step).collect(),
                headers: Headers {
                    command: 48,
                    data_out: 47,
                    ready_to_transfer: 46,
                    data_in: 45,
                    response: 44,
                },
                header_digest: digest,
                data_digest: digest,
                padding: 4,
                immediate: if is_whole {
                    Immediate::AllWithin(immediate)
                } else {
                    Immediate::UpTo(immediate.min(data_out))
                },
                first_burst,
                burst,
                outstanding,
                data_out,
                data_in,
                sequence: if is_whole { burst } else { 0 },
                is_status_with_data,
                commands,
                counts_unanswered,
                requests,
            }
        },
    )
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0_u32..5, 1_u32..200).prop_map(|(operation, length)| match operation {
        0 | 1 => Request { op: Op::Read, offset: 0, bytes: length.into(), tag: 0 },
        2 | 3 => Request { op: Op::Write, offset: 0, bytes: length.into(), tag: 0 },
        _ => Request { op: Op::Flush, offset: 0, bytes: 0, tag: 0 },
    });
    prop::collection::vec(request, 1..30)
}

/// Requests begin, bytes arrive in pieces, and the device answers, in a random order. The limits
/// are checked at intervals.
fn drive(session: &mut Session, requests: &[Request], random: &mut RandomStream) {
    let mut begun = 0;
    while session.done.len() < requests.len() {
        session.now += Span::from_ps(random.below(100));
        match random.below(4) {
            0 if begun < requests.len() => {
                session.initiator.begin(session.now, begun as u64, requests[begun]);
                begun += 1;
            }
            1 if !session.at_device.is_empty() => {
                let arrival = session
                    .at_device
                    .swap_remove(random.below(session.at_device.len() as u64) as usize);
                session.target.handle_served(arrival.tag, Served::default());
            }
            turn => {
                let is_to_target = turn % 2 == 0;
                // A unit that has partly arrived is still in the description.
                let (conduit, reader) = &session.ways[usize::from(!is_to_target)];
                let left = conduit.bytes() - reader.partly();
                if left > 0 {
                    session.arrive(is_to_target, 1 + random.below(left));
                }
            }
        }
        session.write();
    }
}

/// Units written for one request, in order.
#[derive(Default)]
struct Written {
    out: u32,
    asked: u32,
    bursts: u32,
    bursts_max: u32,
    into: u32,
    statuses: u32,
}

fn check(session: &Session, requests: &[Request]) {
    let rules = &session.rules;
    let (mut all, mut current) = (Vec::<(Request, Written)>::new(), BTreeMap::<u32, usize>::new());
    let (mut under_way, mut most) = (0_u32, 0_u32);
    for (_, pdu) in &session.written {
        let overhead = pdu.bytes
            - if pdu.data > 0 { pdu.data.next_multiple_of(4) + rules.data_digest } else { 0 };
        if let PduKind::Command { request, .. } = pdu.kind {
            current.insert(pdu.tag, all.len());
            all.push((request, Written::default()));
            (under_way, most) = (under_way + 1, most.max(under_way + 1));
        }
        let Some(&index) = current.get(&pdu.tag).filter(|_| pdu.kind != PduKind::SetUp) else {
            continue;
        };
        let (request, written) = &mut all[index];
        let header = match pdu.kind {
            PduKind::SetUp => continue,
            PduKind::Command { is_final, .. } => {
                assert!(pdu.data <= request.bytes as u32);
                (written.out, written.asked) = (pdu.data, pdu.data);
                if !is_final {
                    written.asked = rules.first_burst.min(request.bytes as u32);
                    assert!(written.asked > pdu.data, "what is not final is followed by data");
                }
                48
            }
            PduKind::ReadyToTransfer { length } => {
                assert!(pdu.offset == written.asked && length <= rules.burst);
                (written.asked, written.bursts) = (written.asked + length, written.bursts + 1);
                written.bursts_max = written.bursts_max.max(written.bursts);
                46
            }
            PduKind::DataOut { is_final } => {
                assert!(pdu.offset == written.out && pdu.data <= rules.data_out);
                written.out += pdu.data;
                assert!(written.out <= written.asked, "data is sent that was allowed");
                written.bursts = written.bursts.saturating_sub(u32::from(is_final));
                47
            }
            PduKind::DataIn { status } => {
                assert!(pdu.offset == written.into && pdu.data <= rules.data_in);
                written.into += pdu.data;
                assert!(
                    rules.sequence == 0
                        || pdu.offset / rules.sequence == (written.into - 1) / rules.sequence
                );
                written.statuses += u32::from(status.is_some());
                under_way -= u32::from(status.is_some());
                45
            }
            PduKind::Response { .. } => {
                written.statuses += 1;
                under_way -= 1;
                44
            }
        };
        assert_eq!(overhead, header + rules.header_digest);
    }
    let window = if rules.counts_unanswered { rules.commands } else { u32::MAX };
    assert!(most <= rules.requests.min(window), "{most} requests were under way");
    assert_eq!(all.len(), requests.len());
    for (request, written) in &all {
        let moved = [(Op::Write, written.out), (Op::Read, written.into)];
        moved.iter().for_each(|&(operation, bytes)| {
            assert_eq!(bytes, if request.op == operation { request.bytes as u32 } else { 0 })
        });
        assert_eq!(written.statuses, 1, "each request has one status");
        assert!(written.bursts == 0 && written.bursts_max <= rules.outstanding);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Each request is answered once, all of its data is moved once and in order, nothing is sent
    /// that was not allowed, and no more is outstanding than was agreed on; the parts of each
    /// latency are its whole.
    #[test]
    fn every_request_is_answered_once_and_its_data_is_conserved(
        rules in rules(),
        requests in requests(),
        seed: u64,
    ) {
        let mut session = Session::new(rules);
        session.write();
        drive(&mut session, &requests, &mut RandomStream::new(seed, "order"));
        check(&session, &requests);
        let mut jobs: Vec<u64> = session.done.iter().map(|done| done.job).collect();
        jobs.sort_unstable();
        prop_assert_eq!(jobs, (0..requests.len() as u64).collect::<Vec<_>>());
        for done in &session.done {
            prop_assert!(
                done.request == requests[done.job as usize] && done.network() <= done.total
            );
        }
        prop_assert!(session.initiator.unanswered() == 0 && session.now > Time::ZERO);
    }
}
