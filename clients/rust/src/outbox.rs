//! The messages that wait to be sent on one stream.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use prost::Message;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;

use crate::v1::{self, bot_message::Body};

/// The maximum time that answers wait for bot threads that have a queued ask and have not run yet.
const MAX_GATHER_TIME: Duration = Duration::from_millis(1);

/// The maximum time that answers wait for a bot thread after it has taken its ask.
const QUICK_CHOICE_TIME: Duration = Duration::from_micros(100);

/// The messages that wait to be sent on one stream.
///
/// Answers gather until the writer is free and each bot thread with a queued ask has taken it, so
/// that answers that are ready go in one message. An answer waits for a bot that is choosing a move
/// only during the first moments of its choice, in which a quick bot answers.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<v1::BotMessage>,
    answers: Vec<v1::Answer>,
    limits: v1::Limits,
    /// Queued asks that no bot thread has taken yet.
    queued_asks: usize,
    /// Asks that a bot thread has taken and not answered yet.
    taken_asks: usize,
    last_taken: Option<Instant>,
    /// Whether the writer has seen the answers, and waits for bot threads.
    gathering: bool,
    closed: bool,
    writer: Option<Waker>,
}

impl State {
    fn wants_writer(&self) -> bool {
        let answers = !self.answers.is_empty() && (self.queued_asks == 0 || !self.gathering);
        answers || self.closed || !self.messages.is_empty()
    }
}

impl Outbox {
    fn change(&self, change: impl FnOnce(&mut State)) {
        let writer = {
            let mut state = self.lock();
            change(&mut state);
            if state.wants_writer() { state.writer.take() } else { None }
        };
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no thread panics while it has the lock")
    }

    pub fn set_limits(&self, limits: v1::Limits) {
        self.lock().limits = limits;
    }

    /// Sets the number of asks that no bot thread has taken yet, and of those that one has taken.
    pub fn set_asks(&self, queued: usize, taken_and_unanswered: usize) {
        self.change(|state| {
            if taken_and_unanswered > state.taken_asks {
                state.last_taken = Some(Instant::now());
            }
            (state.queued_asks, state.taken_asks) = (queued, taken_and_unanswered);
        });
    }

    pub fn put(&self, messages: impl IntoIterator<Item = v1::BotMessage>) {
        self.change(|state| state.messages.extend(messages));
    }

    pub fn put_answers(&self, answers: Vec<v1::Answer>) {
        if !answers.is_empty() {
            self.change(|state| state.answers.extend(answers));
        }
    }

    /// Closes the bot's side of the stream.
    pub fn close(&self) {
        self.change(|state| state.closed = true);
    }

    /// Takes the waiting answers, in order.
    #[cfg(test)]
    pub fn take_answers(&self) -> Vec<v1::Answer> {
        std::mem::take(&mut self.lock().answers)
    }
}

/// The stream that tonic reads an outbox's messages from.
pub(crate) struct OutboxStream {
    outbox: Arc<Outbox>,
    max_gather_time: Duration,
    quick_choice_time: Duration,
    timeout: Option<Pin<Box<Sleep>>>,
}

impl OutboxStream {
    pub fn of(outbox: Arc<Outbox>) -> Self {
        Self {
            outbox,
            max_gather_time: MAX_GATHER_TIME,
            quick_choice_time: QUICK_CHOICE_TIME,
            timeout: None,
        }
    }
}

impl Stream for OutboxStream {
    type Item = v1::BotMessage;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<v1::BotMessage>> {
        let Self { outbox, max_gather_time, quick_choice_time, timeout } = self.get_mut();
        let mut state = outbox.lock();
        if state.messages.is_empty() && !state.answers.is_empty() {
            if state.queued_asks > 0 {
                let timeout = timeout.get_or_insert_with(|| Box::pin(sleep(*max_gather_time)));
                if timeout.as_mut().poll(context).is_pending() {
                    state.gathering = true;
                    state.writer = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
            *timeout = None;
            state.gathering = false;
            // Shorter than a timer of tokio can be.
            while state.taken_asks > 0
                && state.last_taken.is_some_and(|last| last.elapsed() < *quick_choice_time)
            {
                drop(state);
                thread::yield_now();
                state = outbox.lock();
            }
            let answers = std::mem::take(&mut state.answers);
            let limits = state.limits;
            frames(&mut state.messages, answers, &limits);
        }
        match state.messages.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None if state.closed => Poll::Ready(None),
            None => {
                state.writer = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Puts answers into as few messages as the arena's limits allow.
fn frames(to: &mut VecDeque<v1::BotMessage>, mut answers: Vec<v1::Answer>, limits: &v1::Limits) {
    let max_answers = limits.max_answers as usize;
    let max_bytes = limits.max_message_bytes as usize;
    if max_answers > 0 && answers.len() > max_answers {
        let rest = answers.split_off(max_answers);
        frames(to, answers, limits);
        return frames(to, rest, limits);
    }
    let message = v1::BotMessage { body: Some(Body::Answers(v1::Answers { answers })) };
    let bytes = message.encoded_len();
    if max_bytes == 0 || bytes <= max_bytes {
        return to.push_back(message);
    }
    let Some(Body::Answers(v1::Answers { mut answers })) = message.body else { return };
    if answers.len() > 1 {
        let rest = answers.split_off(answers.len() / 2);
        frames(to, answers, limits);
        return frames(to, rest, limits);
    }
    let note = format!("error: the answer has {bytes} bytes, the limit is {max_bytes}");
    let short = v1::Answer {
        ask_id: answers[0].ask_id,
        choice: Some(v1::answer::Choice::Failed(true)),
        note,
    };
    let answers = v1::Answers { answers: vec![short] };
    to.push_back(v1::BotMessage { body: Some(Body::Answers(answers)) });
}

#[cfg(test)]
mod tests;
