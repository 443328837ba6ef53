//! When a bot connects again.

use super::*;

fn redial(once: bool) -> Redial {
    Redial::new("first:1".into(), once, Box::new(|max| max), Instant::now())
}

fn seconds(redial: &mut Redial, end: &StreamEnd) -> Option<f64> {
    let next = redial.after(end, Instant::now()).expect("another stream");
    next.map(|attempt| attempt.delay.as_secs_f64())
}

#[test]
fn delays_double_up_to_thirty_seconds_and_a_long_stream_resets_them() {
    let mut redial = redial(false);
    let cut = StreamEnd::new(Code::Unavailable, "");
    let delays: Vec<_> = (0..10).map(|_| seconds(&mut redial, &cut).unwrap()).collect();
    assert_eq!(delays, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]);
    let long = StreamEnd { open_for: RESETS_BACKOFF, ..cut };
    assert_eq!(seconds(&mut redial, &long), Some(0.2));
}

#[test]
fn a_requested_delay_is_kept_with_as_long_again_at_random() {
    let retry_delay = Duration::from_secs(2);
    let busy = StreamEnd { retry_delay, ..StreamEnd::new(Code::Unavailable, "") };
    assert_eq!(seconds(&mut redial(false), &busy), Some(4.0));
}

#[test]
fn a_status_ends_play_or_the_bot_connects_again() {
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
    for (code, reason, reconnects) in rows {
        let end = StreamEnd { reason: reason.into(), ..StreamEnd::new(code, "") };
        let after = redial(false).after(&end, Instant::now());
        assert_eq!(after.is_ok(), reconnects, "{code:?} {reason}");
    }
}

#[test]
fn a_redirect_holds_until_a_stream_there_gets_no_welcome() {
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
fn four_redirects_in_a_row_have_no_delay() {
    let mut redial = redial(false);
    let there = StreamEnd { redirect: Some("second:2".into()), ..StreamEnd::new(Code::Ok, "") };
    let delays: Vec<_> = (0..6).map(|_| seconds(&mut redial, &there).unwrap()).collect();
    assert_eq!(delays, [0.0, 0.0, 0.0, 0.0, 0.2, 0.4]);
}

#[test]
fn a_bot_with_once_gives_up_after_ten_seconds() {
    let now = Instant::now();
    let mut redial = Redial::new("first:1".into(), true, Box::new(|max| max), now);
    let cut = StreamEnd::new(Code::Unavailable, "refused");
    assert!(redial.after(&cut, now + Duration::from_secs(9)).unwrap().is_some());
    let after = redial.after(&cut, now + Duration::from_secs(10));
    assert!(matches!(after, Err(Error::Unreachable(_))));
    assert_eq!(redial.after(&StreamEnd::new(Code::Ok, ""), now).unwrap(), None);
}
