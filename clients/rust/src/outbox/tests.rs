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

/// What the writer is given at once: how many answers each message has.
fn sent(outgoing: &mut Outgoing) -> Vec<usize> {
    let mut context = Context::from_waker(Waker::noop());
    let mut sizes = Vec::new();
    while let Poll::Ready(Some(message)) = Pin::new(&mut *outgoing).poll_next(&mut context) {
        let Some(Body::Answers(answers)) = message.body else { continue };
        sizes.push(answers.answers.len());
    }
    sizes
}

#[test]
fn answers_go_together_and_wait_for_threads_that_were_handed_an_ask_alone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _entered = runtime.enter();
    let answer = |ask_id| vec![v1::Answer { ask_id, ..Default::default() }];
    let outbox = Arc::new(Outbox::default());
    let most = Duration::from_secs(60);
    let mut outgoing = Outgoing { most, ..Outgoing::of(outbox.clone()) };
    outbox.put_answers(answer(1));
    assert_eq!(sent(&mut outgoing), [1], "a lone answer goes at once");
    outbox.handed(2);
    for ask_id in 2..9 {
        outbox.put_answers(answer(ask_id));
        assert!(sent(&mut outgoing).is_empty(), "two threads have not run yet");
    }
    outbox.put([v1::BotMessage { body: Some(Body::Ready(v1::Ready::default())) }]);
    assert!(sent(&mut outgoing).is_empty());
    assert!(outbox.lock().messages.is_empty(), "what is no answer waits for nothing");
    outbox.handed(0);
    assert_eq!(sent(&mut outgoing), [7], "the last may think as long as it likes");

    outbox.handed(1);
    let mut outgoing = Outgoing { most: Duration::ZERO, ..Outgoing::of(outbox.clone()) };
    outbox.put_answers(answer(9));
    let late = std::future::poll_fn(|context| Pin::new(&mut outgoing).poll_next(context));
    assert!(runtime.block_on(late).is_some(), "what does not run for so long is not waited for");
}
