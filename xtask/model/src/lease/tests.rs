//! The protocol holds within bounds, and each fault is found.

use super::*;

const SMALL: Bounds = Bounds {
    workers: 2,
    ticks: 4,
    entries: 3,
    messages: 1,
    leases: 2,
    kills: 1,
    losses: 1,
    deferrals: 1,
};

fn broken(fault: ProtocolFault) -> Option<BrokenRule> {
    let explored = Protocol { bounds: SMALL, fault: Some(fault) }.explore();
    explored.broken.map(|(rule, _)| rule)
}

#[test]
fn the_protocol_holds_and_everything_is_seen() {
    let explored = Protocol { bounds: SMALL, fault: None }.explore();
    assert_eq!(explored.broken, None);
    assert_eq!(explored.unseen, Vec::<&str>::new());
}

#[test]
fn an_entry_of_a_lost_owner_is_found() {
    assert_eq!(broken(ProtocolFault::NoEpoch), Some(BrokenRule::SecondWriter));
}

#[test]
fn an_event_that_is_written_twice_is_found() {
    assert_eq!(broken(ProtocolFault::BlindRetry), Some(BrokenRule::Repeated));
}

#[test]
fn a_message_that_a_parked_run_misses_is_found() {
    assert_eq!(broken(ProtocolFault::NoMailCheck), Some(BrokenRule::LostWake));
}

#[test]
fn a_message_that_a_deferred_run_misses_is_found() {
    assert_eq!(broken(ProtocolFault::DeafDeferral), Some(BrokenRule::LostWake));
}

#[test]
fn an_acknowledgement_of_nothing_is_found() {
    assert_eq!(broken(ProtocolFault::EarlyAnswer), Some(BrokenRule::Forgotten));
}

#[test]
fn an_effect_without_an_entry_is_found() {
    assert_eq!(broken(ProtocolFault::EarlyEffect), Some(BrokenRule::Unwritten));
}

#[test]
fn a_permit_past_a_lease_is_found() {
    for fault in
        [ProtocolFault::NoDeadline, ProtocolFault::LateDeadline, ProtocolFault::SkewedClock]
    {
        assert_eq!(broken(fault), Some(BrokenRule::PastLease), "{fault:?}");
    }
}

#[test]
fn a_message_that_a_lost_owner_discards_is_found() {
    assert_eq!(broken(ProtocolFault::LateDiscard), Some(BrokenRule::LostMessage));
}

#[test]
fn an_entry_that_arrives_after_its_run_was_given_up_is_found() {
    // The queue may have given the run to the next owner, or say that it waits.
    let rule = broken(ProtocolFault::LateAppend);
    assert!(matches!(rule, Some(BrokenRule::PastLease | BrokenRule::LostWake)), "{rule:?}");
}
