//! When a bot comes back.

use super::*;

fn redial(once: bool) -> Redial {
    Redial::new("first:1".into(), once, Box::new(|most| most), Instant::now())
}

fn seconds(redial: &mut Redial, end: &StreamEnd) -> Option<f64> {
    let next = redial.after(end, Instant::now()).expect("it goes on");
    next.map(|attempt| attempt.delay.as_secs_f64())
}

#[test]
fn waits_double_up_to_thirty_seconds_and_a_steady_stream_makes_up_for_them() {
    let mut redial = redial(false);
    let cut = StreamEnd::new(Code::Unavailable, "");
    let waits: Vec<_> = (0..10).map(|_| seconds(&mut redial, &cut).unwrap()).collect();
    assert_eq!(waits, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]);
    let steady = StreamEnd { lived: STEADY, ..cut };
    assert_eq!(seconds(&mut redial, &steady), Some(0.2));
}

#[test]
fn what_the_arena_asks_for_is_waited_for_and_as_long_again_at_random() {
    let retry = Duration::from_secs(2);
    let busy = StreamEnd { retry, ..StreamEnd::new(Code::Unavailable, "") };
    assert_eq!(seconds(&mut redial(false), &busy), Some(4.0));
}

#[test]
fn statuses_end_play_or_do_not() {
    let rows = [
        (Code::Unauthenticated, "BAD_TOKEN", false),
        (Code::PermissionDenied, "", false),
        (Code::FailedPrecondition, "NO_HELLO", false),
        (Code::InvalidArgument, "", false),
        (Code::Aborted, "TAKEN_OVER", false),
        (Code::Unimplemented, "", false),
        (Code::ResourceExhausted, "TOO_MANY_REFUSALS", false),
        (Code::ResourceExhausted, "", false),
        (Code::ResourceExhausted, "BUSY", true),
        (Code::ResourceExhausted, "NOT_READING", true),
        (Code::Internal, "INCIDENT", true),
        (Code::Ok, "", true),
    ];
    for (code, reason, goes_on) in rows {
        let end = StreamEnd { reason: reason.into(), ..StreamEnd::new(code, "") };
        let after = redial(false).after(&end, Instant::now());
        assert_eq!(after.is_ok(), goes_on, "{code:?} {reason}");
    }
}

#[test]
fn a_redirect_counts_until_a_stream_is_not_welcomed_there() {
    let mut redial = redial(false);
    let there = StreamEnd { redirect: Some("second:2".into()), ..StreamEnd::new(Code::Ok, "") };
    let now = Instant::now();
    let endpoint = |next: Result<Option<Attempt>, Error>| next.unwrap().unwrap().endpoint;
    assert_eq!(endpoint(redial.after(&there, now)), "second:2");
    let cut = StreamEnd { welcomed: true, ..StreamEnd::new(Code::Unavailable, "") };
    assert_eq!(endpoint(redial.after(&cut, now)), "second:2");
    assert_eq!(endpoint(redial.after(&StreamEnd { welcomed: false, ..cut }, now)), "first:1");
}

#[test]
fn redirects_in_a_row_are_followed_at_once_four_times() {
    let mut redial = redial(false);
    let there = StreamEnd { redirect: Some("second:2".into()), ..StreamEnd::new(Code::Ok, "") };
    let waits: Vec<_> = (0..6).map(|_| seconds(&mut redial, &there).unwrap()).collect();
    assert_eq!(waits, [0.0, 0.0, 0.0, 0.0, 0.2, 0.4]);
}

#[test]
fn who_plays_once_gives_up_after_ten_seconds() {
    let now = Instant::now();
    let mut redial = Redial::new("first:1".into(), true, Box::new(|most| most), now);
    let cut = StreamEnd::new(Code::Unavailable, "refused");
    assert!(redial.after(&cut, now + Duration::from_secs(9)).unwrap().is_some());
    let after = redial.after(&cut, now + Duration::from_secs(10));
    assert!(matches!(after, Err(Error::Unreachable(_))));
    assert_eq!(redial.after(&StreamEnd::new(Code::Ok, ""), now).unwrap(), None);
}
