//! How answers are put into messages.

use super::*;

fn sizes(count: u64, limits: v1::Limits) -> Vec<usize> {
    let answers = (1..=count).map(|ask_id| v1::Answer { ask_id, ..Default::default() });
    let mut messages = VecDeque::new();
    frames(&mut messages, answers.collect(), &limits);
    let sizes = messages.iter().map(|message| match &message.body {
        Some(Body::Answers(answers)) => answers.answers.len(),
        _ => 0,
    });
    sizes.collect()
}

#[test]
fn answers_go_in_as_few_messages_as_the_limits_allow() {
    let limits = |max_answers, max_message_bytes| v1::Limits {
        max_answers,
        max_message_bytes,
        ..Default::default()
    };
    assert_eq!(sizes(5, limits(0, 0)), [5]);
    assert_eq!(sizes(5, limits(2, 0)), [2, 2, 1]);
    assert_eq!(sizes(4, limits(0, 12)), [2, 2]);
    assert_eq!(sizes(1, limits(0, 3)), [1]);
}
