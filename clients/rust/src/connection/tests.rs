//! How a stream ended, by its status.

use std::collections::HashMap;
use std::io;

use tonic_types::ErrorDetails;

use super::*;

#[test]
fn what_the_arena_says_of_an_end_is_read() {
    let mut details = ErrorDetails::new();
    details.set_error_info("BUSY", "cardarena", HashMap::new());
    details.set_retry_info(Some(Duration::from_secs(2)));
    let status = Status::with_error_details(Code::ResourceExhausted, "full", details.clone());
    let end = end_of(&status);
    assert_eq!((end.code, end.details.as_str()), (Code::ResourceExhausted, "full"));
    assert_eq!((end.reason.as_str(), end.retry), ("BUSY", Duration::from_secs(2)));
    details.set_retry_info(Some(Duration::from_secs(1_000_000)));
    let status = Status::with_error_details(Code::Unavailable, "", details);
    assert_eq!(end_of(&status).retry, MAX_RETRY);
    let nothing = end_of(&Status::new(Code::Internal, ""));
    assert_eq!((nothing.reason.as_str(), nothing.retry), ("", Duration::ZERO));
}

#[test]
fn what_broke_on_the_way_is_a_cut_whatever_status_is_made_of_it() {
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ConnectionReset] {
        let mut status = Status::new(Code::PermissionDenied, "of the connection");
        status.set_source(Arc::new(io::Error::from(kind)));
        assert_eq!(end_of(&status).code, Code::Unavailable);
    }
}
