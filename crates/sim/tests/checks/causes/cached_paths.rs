//! Users who are behind their schedule: the paths of their transactions pass through those before,
//! and are the same as when each is followed whole.

use super::*;
use tailrace_sim::{Table, Wanted, traced};

/// The tables of explanations, of paths followed whole: with their steps, for a trace.
fn followed_whole(plan: &Plan) -> Vec<Table> {
    let all = Wanted::from_ps(vec![(0, plan.raw.stop_at_ps)], Vec::new());
    traced(plan, &Control::default(), &all)
        .into_iter()
        .filter(|table| table.name.starts_with("causes"))
        .collect()
}

/// Where two lists of tables differ first: table, column, and as much as fits of both.
fn difference(one: &[Table], other: &[Table]) -> Option<String> {
    assert_eq!(one.len(), other.len());
    let columns = |of: &[Table]| -> Vec<String> {
        of.iter()
            .flat_map(|table| {
                table.columns.iter().map(|column| format!("{} {column:?}", table.name))
            })
            .collect()
    };
    let differing =
        columns(one).into_iter().zip(columns(other)).find(|(one, other)| one != other)?;
    let at = differing
        .0
        .bytes()
        .zip(differing.1.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let around =
        |text: &str| text.chars().skip(at.saturating_sub(100)).take(200).collect::<String>();
    Some(format!("{:.40}: {} | {}", differing.0, around(&differing.0), around(&differing.1)))
}

/// Users who would begin every 50 us, each behind a bulk transfer to the same port.
fn behind(limit_bytes: u64, round_trips: usize) -> Plan {
    let mut plan = crowded(limit_bytes, false);
    plan.hosts.iter_mut().for_each(|host| host.tcp.rto_min_ps = 5 * MS);
    plan.stop_at_ps = 50 * MS; // what was sent then is all in the record
    let RawBody::Oltp(oltp) = &mut plan.workloads[0].body else { unreachable!("it has users") };
    (oltp.users, oltp.transactions) = (12, 0);
    (oltp.gap, oltp.gap_from) =
        (RawDistribution::Uniform { low: 0, high: 100 * US }, RawGapFrom::Start);
    oltp.round_trips[0].response_bytes = 8_000;
    oltp.round_trips = vec![oltp.round_trips[0].clone(); round_trips];
    Plan::from_raw(plan).expect("the plan is sound")
}

#[test]
fn users_who_are_behind_wait_for_their_earlier_transactions() {
    for (limit_bytes, round_trips) in [(2_000_000, 1), (2_000_000, 3), (90_000, 1), (40_000, 2)] {
        let plan = behind(limit_bytes, round_trips);
        let explained = explain(&plan, &Control::default());
        let late = explained
            .transactions
            .iter()
            .filter(|one| ps(one, Part::Start) < one.parts.total().ps() / 100);
        let (late, all) = (late.count(), explained.transactions.len());
        assert!(late > all / 3 && late > 10, "most are behind: {late} of {all}");
        assert_eq!(
            difference(&explained.tables(), &followed_whole(&plan)),
            None,
            "limit {limit_bytes}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES / 2))]
    #[test]
    fn paths_through_earlier_ones_are_those_followed_whole(
        mut plan in plans(),
        gap in 1_u64..2_000,
    ) {
        for workload in &mut plan.workloads {
            if let RawBody::Oltp(oltp) = &mut workload.body {
                (oltp.gap, oltp.gap_from) =
                    (RawDistribution::Uniform { low: 0, high: gap * US }, RawGapFrom::Start);
            }
        }
        let plan = Plan::from_raw(plan).expect("the plan is sound");
        prop_assert_eq!(
            difference(&explain(&plan, &Control::default()).tables(), &followed_whole(&plan)),
            None
        );
    }
}
