//! Reading the status of a stream that ended.

use std::collections::HashMap;
use std::io;

use tonic_types::ErrorDetails;

use super::*;

#[test]
fn the_details_of_a_status_are_read() {
    let mut details = ErrorDetails::new();
    details.set_error_info("BUSY", "cardarena", HashMap::new());
    details.set_retry_info(Some(Duration::from_secs(2)));
    let status = Status::with_error_details(Code::ResourceExhausted, "full", details.clone());
    let end = end_of(&status);
    assert_eq!((end.code, end.details.as_str()), (Code::ResourceExhausted, "full"));
    assert_eq!((end.reason.as_str(), end.retry_delay), ("BUSY", Duration::from_secs(2)));
    details.set_retry_info(Some(Duration::from_secs(1_000_000)));
    let status = Status::with_error_details(Code::Unavailable, "", details);
    assert_eq!(end_of(&status).retry_delay, MAX_RETRY_DELAY);
    let nothing = end_of(&Status::new(Code::Internal, ""));
    assert_eq!((nothing.reason.as_str(), nothing.retry_delay), ("", Duration::ZERO));
}

#[test]
fn a_broken_connection_is_unavailable_whatever_its_status() {
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ConnectionReset] {
        let mut status = Status::new(Code::PermissionDenied, "of the connection");
        status.set_source(Arc::new(io::Error::from(kind)));
        assert_eq!(end_of(&status).code, Code::Unavailable);
    }
}
