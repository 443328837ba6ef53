//! Which addresses a token may be sent to.

use super::*;

fn uri(address: &str, tls: bool, insecure: bool) -> Option<String> {
    let dialer = Dialer { tls: tls.then(ClientTlsConfig::new), insecure };
    dialer.uri(address).ok()
}

#[test]
fn plain_text_is_for_this_machine_only() {
    let rows = [
        ("localhost:7654", false, false, Some("http://localhost:7654")),
        ("127.0.0.1:7654", false, false, Some("http://127.0.0.1:7654")),
        ("[::1]:7654", false, false, Some("http://[::1]:7654")),
        ("unix:/run/arena", false, false, Some("unix:/run/arena")),
        ("http://localhost:7654/", false, false, Some("http://localhost:7654")),
        ("example.org:7654", false, false, None),
        ("http://example.org:7654", false, false, None),
        ("localhost.example.org:7654", false, false, None),
        ("example.org:7654", false, true, Some("http://example.org:7654")),
        ("example.org:7654", true, false, Some("https://example.org:7654")),
        ("https://example.org:7654/", true, false, Some("https://example.org:7654")),
        ("https://example.org:7654", false, false, None),
        ("http://example.org:7654", true, false, None),
        ("http://localhost:7654", true, false, None),
    ];
    for (address, tls, insecure, expected) in rows {
        assert_eq!(uri(address, tls, insecure).as_deref(), expected, "{address}");
    }
}
