//! How answers are put into messages, and when they are sent.

use std::sync::Barrier;

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
fn answers_are_sent_in_as_few_messages_as_the_limits_allow() {
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

/// The number of answers in each message that the writer receives without waiting.
fn sent(stream: &mut OutboxStream) -> Vec<usize> {
    let mut context = Context::from_waker(Waker::noop());
    let mut sizes = Vec::new();
    while let Poll::Ready(Some(message)) = Pin::new(&mut *stream).poll_next(&mut context) {
        let Some(Body::Answers(answers)) = message.body else { continue };
        sizes.push(answers.answers.len());
    }
    sizes
}

#[test]
fn answers_wait_for_the_first_moments_of_a_choice() {
    let answer = |ask_id| vec![v1::Answer { ask_id, ..Default::default() }];
    let outbox = Arc::new(Outbox::default());
    let quick_choice_time = Duration::from_secs(60);
    let mut stream = OutboxStream { quick_choice_time, ..OutboxStream::of(outbox.clone()) };
    outbox.set_asks(0, 1);
    outbox.put_answers(answer(1));
    let begins = Barrier::new(2);
    thread::scope(|threads| {
        let sizes = threads.spawn(|| {
            begins.wait();
            sent(&mut stream)
        });
        begins.wait();
        for _ in 0..10_000 {
            thread::yield_now(); // a writer that does not wait sends now
        }
        outbox.put_answers(answer(2));
        outbox.set_asks(0, 0);
        assert_eq!(sizes.join().unwrap(), [2], "both in one message");
    });
}

#[test]
fn answers_wait_only_for_threads_with_a_queued_ask() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _entered = runtime.enter();
    let answer = |ask_id| vec![v1::Answer { ask_id, ..Default::default() }];
    let outbox = Arc::new(Outbox::default());
    let max_gather_time = Duration::from_secs(60);
    let mut stream = OutboxStream { max_gather_time, ..OutboxStream::of(outbox.clone()) };
    outbox.put_answers(answer(1));
    assert_eq!(sent(&mut stream), [1], "a single answer is sent at once");
    outbox.set_asks(2, 0);
    for ask_id in 2..9 {
        outbox.put_answers(answer(ask_id));
        assert!(sent(&mut stream).is_empty(), "two threads have not run yet");
    }
    outbox.put([v1::BotMessage { body: Some(Body::Ready(v1::Ready::default())) }]);
    assert!(sent(&mut stream).is_empty());
    assert!(outbox.lock().messages.is_empty(), "only answers wait");
    stream.quick_choice_time = Duration::ZERO;
    outbox.set_asks(0, 2);
    assert_eq!(sent(&mut stream), [7], "a thread that took its ask a while ago is not waited for");

    outbox.set_asks(1, 0);
    let max_gather_time = Duration::ZERO;
    let mut stream = OutboxStream { max_gather_time, ..OutboxStream::of(outbox.clone()) };
    outbox.put_answers(answer(9));
    let next = std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context));
    assert!(runtime.block_on(next).is_some(), "the wait has a limit");
}
