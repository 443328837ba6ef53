//! What is to be sent on one stream.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use prost::Message;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;

use crate::v1::{self, bot_message::Body};

/// How long answers wait at most for threads that were handed an ask, and have not run yet.
const GATHER_MOST: Duration = Duration::from_millis(1);

/// What is to be sent on one stream. Answers gather until the writer is free, and all threads that
/// were handed an ask have had the processor: what they answer at once goes together. No answer waits
/// for a bot that thinks.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<v1::BotMessage>,
    answers: Vec<v1::Answer>,
    limits: v1::Limits,
    /// Asks that were handed on, and that no thread has taken up yet.
    handed: usize,
    /// Whether the writer has seen the answers, and waits for these threads.
    gathers: bool,
    closed: bool,
    writer: Option<Waker>,
}

impl Waiting {
    fn wants_writer(&self) -> bool {
        let answers = !self.answers.is_empty() && (self.handed == 0 || !self.gathers);
        answers || self.closed || !self.messages.is_empty()
    }
}

impl Outbox {
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let writer = {
            let mut waiting = self.lock();
            change(&mut waiting);
            if waiting.wants_writer() { waiting.writer.take() } else { None }
        };
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().expect("nobody panics with it")
    }

    pub fn limit(&self, limits: v1::Limits) {
        self.lock().limits = limits;
    }

    /// Is told how many asks wait for their thread.
    pub fn handed(&self, handed: usize) {
        self.change(|waiting| waiting.handed = handed);
    }

    pub fn put(&self, messages: impl IntoIterator<Item = v1::BotMessage>) {
        self.change(|waiting| waiting.messages.extend(messages));
    }

    pub fn put_answers(&self, answers: Vec<v1::Answer>) {
        if !answers.is_empty() {
            self.change(|waiting| waiting.answers.extend(answers));
        }
    }

    /// Ends the bot's side of the stream.
    pub fn close(&self) {
        self.change(|waiting| waiting.closed = true);
    }

    /// The answers that wait, in order.
    #[cfg(test)]
    pub fn take_answers(&self) -> Vec<v1::Answer> {
        std::mem::take(&mut self.lock().answers)
    }
}

/// The writer's end of an outbox.
pub(crate) struct Outgoing {
    outbox: Arc<Outbox>,
    most: Duration,
    late: Option<Pin<Box<Sleep>>>,
}

impl Outgoing {
    pub fn of(outbox: Arc<Outbox>) -> Self {
        Self { outbox, most: GATHER_MOST, late: None }
    }
}

impl Stream for Outgoing {
    type Item = v1::BotMessage;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<v1::BotMessage>> {
        let Self { outbox, most, late } = self.get_mut();
        let mut waiting = outbox.lock();
        if waiting.messages.is_empty() && !waiting.answers.is_empty() {
            if waiting.handed > 0 {
                let late = late.get_or_insert_with(|| Box::pin(sleep(*most)));
                if late.as_mut().poll(context).is_pending() {
                    waiting.gathers = true;
                    waiting.writer = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
            *late = None;
            waiting.gathers = false;
            drop(waiting);
            thread::yield_now(); // the last of them is about to answer
            waiting = outbox.lock();
            let answers = std::mem::take(&mut waiting.answers);
            let limits = waiting.limits;
            frames(&mut waiting.messages, answers, &limits);
        }
        match waiting.messages.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None if waiting.closed => Poll::Ready(None),
            None => {
                waiting.writer = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Puts answers into as few messages as the arena's limits allow.
fn frames(to: &mut VecDeque<v1::BotMessage>, mut answers: Vec<v1::Answer>, limits: &v1::Limits) {
    let (most, most_bytes) = (limits.max_answers as usize, limits.max_message_bytes as usize);
    if most > 0 && answers.len() > most {
        let rest = answers.split_off(most);
        frames(to, answers, limits);
        return frames(to, rest, limits);
    }
    let message = v1::BotMessage { body: Some(Body::Answers(v1::Answers { answers })) };
    let bytes = message.encoded_len();
    if most_bytes == 0 || bytes <= most_bytes {
        return to.push_back(message);
    }
    let Some(Body::Answers(v1::Answers { mut answers })) = message.body else { return };
    if answers.len() > 1 {
        let rest = answers.split_off(answers.len() / 2);
        frames(to, answers, limits);
        return frames(to, rest, limits);
    }
    let note = format!("error: the answer has {bytes} bytes, the arena takes {most_bytes}");
    let short = v1::Answer { ask_id: answers[0].ask_id, choice: None, note };
    let answers = v1::Answers { answers: vec![short] };
    to.push_back(v1::BotMessage { body: Some(Body::Answers(answers)) });
}

#[cfg(test)]
mod tests;
