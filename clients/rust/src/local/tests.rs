//! What the engine tells.

use serde_json::json;

use super::*;

#[test]
fn a_result_has_scores_and_faults() {
    let fault = json!({"bot": "b", "seat": 1, "kind": "illegal", "decision": 3, "reason": "why"});
    let told =
        json!({"ending": "completed", "scores": [3, -2], "faults": [fault], "replay": "a/b"});
    let faults = vec![LocalFault { seat: 1, kind: "illegal".into(), reason: "why".into() }];
    let ending = "completed".to_owned();
    let expected = LocalMatch { ending, scores: vec![3, -2], faults, replay: "a/b".into() };
    assert_eq!(result_of(&told), Some(expected));
    assert_eq!(result_of(&json!({"ending": "completed"})), None);
}
