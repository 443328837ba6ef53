//! Calls the author's bots on threads of their own, and handles their errors.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tracing::error;

use crate::ask::{Match, UntypedAsk, UntypedEnd};
use crate::bot::{
    Abandoned, BotError, BotFactory, Bots, UntypedBatchBot, UntypedBot, failed_answer,
};
use crate::session::{BotTask, SharedSession};

/// Passes tasks to the threads that call the bots. It never waits for a bot.
pub(crate) enum BotRunner {
    /// Each match has a thread.
    PerMatch {
        session: SharedSession,
        make: Arc<BotFactory>,
        queues: HashMap<u32, Sender<BotTask>>,
        threads: Vec<JoinHandle<()>>,
    },
    /// One thread plays all matches.
    Batch { queue: Option<Sender<BotTask>>, thread: Option<JoinHandle<()>> },
}

impl BotRunner {
    pub fn new(session: SharedSession, bots: Bots) -> Self {
        match bots {
            Bots::PerMatch(make) => {
                Self::PerMatch { session, make, queues: HashMap::new(), threads: Vec::new() }
            }
            Bots::Batch(bot) => {
                let (queue, tasks) = channel();
                let thread = thread::spawn(move || play_batches(&session, bot, &tasks));
                Self::Batch { queue: Some(queue), thread: Some(thread) }
            }
        }
    }

    pub fn submit(&mut self, tasks: Vec<BotTask>) {
        for task in tasks {
            let number = task.match_number();
            let queue = match self {
                Self::Batch { queue, .. } => queue.clone(),
                Self::PerMatch { session, make, queues, threads } => match &task {
                    BotTask::Started(game_match) => {
                        let (queue, tasks) = channel();
                        queues.insert(number, queue);
                        let (session, make) = (session.clone(), make.clone());
                        let game_match = game_match.clone();
                        threads.retain(|thread| !thread.is_finished());
                        threads.push(thread::spawn(move || {
                            play_match(&session, &*make, &game_match, &tasks);
                        }));
                        None
                    }
                    BotTask::Ask(_) => queues.get(&number).cloned(),
                    BotTask::Ended(_) => queues.remove(&number),
                },
            };
            if let Some(queue) = queue {
                let _ = queue.send(task); // the thread lives as long as its queue has a sender
            }
        }
    }

    /// Ends all matches. Joining the returned threads waits for the bots to return.
    pub fn close(&mut self) -> Vec<JoinHandle<()>> {
        match self {
            Self::PerMatch { queues, threads, .. } => {
                queues.clear();
                std::mem::take(threads)
            }
            Self::Batch { queue, thread } => {
                *queue = None;
                thread.take().into_iter().collect()
            }
        }
    }
}

fn play_match(
    session: &SharedSession,
    make: &BotFactory,
    game_match: &Arc<Match>,
    tasks: &Receiver<BotTask>,
) {
    let number = game_match.number();
    let mut bot = catch_panic(|| Ok(make(game_match)));
    if let Err(why) = &bot {
        error!(%why, r#match = number, "making the bot failed; fallbacks are played");
    }
    loop {
        match tasks.recv() {
            Ok(BotTask::Started(_)) => {}
            Ok(BotTask::Ask(ask)) => choose(session, &ask, &mut bot),
            Ok(BotTask::Ended(end)) => return end_match(bot, end),
            Err(_) => return end_match(bot, UntypedEnd::missed(game_match.clone())), // closed
        }
    }
}

fn end_match(bot: Result<Box<dyn UntypedBot>, BotError>, end: UntypedEnd) {
    let number = end.game_match.number();
    if let Ok(mut bot) = bot
        && let Err(why) = catch_panic(|| {
            bot.ended(end);
            Ok(())
        })
    {
        error!(%why, r#match = number, "the bot failed at the end of a match");
    }
}

fn choose(
    session: &SharedSession,
    ask: &Arc<UntypedAsk>,
    bot: &mut Result<Box<dyn UntypedBot>, BotError>,
) {
    while session.lock().deliver(ask, Instant::now()) {
        let answer = match bot {
            Ok(bot) => match catch_panic(|| bot.choose(ask)) {
                Ok(answer) => answer,
                Err(why) if why.is::<Abandoned>() && !ask.is_open() => {
                    if session.lock().abandon(ask) {
                        continue;
                    }
                    return;
                }
                Err(why) => {
                    let (ask_id, number) = (ask.id(), ask.game_match.number());
                    error!(%why, ask = ask_id, r#match = number, "the bot failed; the fallback is played");
                    failed_answer(ask_id, &why)
                }
            },
            Err(why) => failed_answer(ask.id(), why),
        };
        return session.lock().answer(vec![answer], Instant::now());
    }
}

/// Passes all waiting asks to the bot together.
fn play_batches(
    session: &SharedSession,
    mut bot: Box<dyn UntypedBatchBot>,
    tasks: &Receiver<BotTask>,
) {
    while let Ok(first) = tasks.recv() {
        let mut asks = Vec::new();
        for task in [first].into_iter().chain(tasks.try_iter()) {
            let number = task.match_number();
            match task {
                BotTask::Started(game_match) => {
                    let called = catch_panic(|| {
                        bot.started(&game_match);
                        Ok(())
                    });
                    if let Err(why) = called {
                        error!(%why, r#match = number, "the bot failed at the start of a match");
                    }
                }
                BotTask::Ended(end) => {
                    let called = catch_panic(|| {
                        bot.ended(end);
                        Ok(())
                    });
                    if let Err(why) = called {
                        error!(%why, r#match = number, "the bot failed at the end of a match");
                    }
                }
                BotTask::Ask(ask) if session.lock().deliver(&ask, Instant::now()) => asks.push(ask),
                BotTask::Ask(_) => {}
            }
        }
        if !asks.is_empty() {
            choose_all(session, &mut *bot, &asks);
        }
    }
}

fn choose_all(session: &SharedSession, bot: &mut dyn UntypedBatchBot, asks: &[Arc<UntypedAsk>]) {
    let answers = match catch_panic(|| bot.choose_all(asks)) {
        Ok(answers) => {
            let each = answers.into_iter().zip(asks).map(|(answer, ask)| {
                answer.unwrap_or_else(|why| {
                    error!(%why, ask = ask.id(), "the bot failed; the fallback is played");
                    failed_answer(ask.id(), &why)
                })
            });
            each.collect()
        }
        Err(why) => {
            error!(%why, asks = asks.len(), "the bot failed at a batch; fallbacks are played");
            asks.iter().map(|ask| failed_answer(ask.id(), &why)).collect()
        }
    };
    session.lock().answer(answers, Instant::now());
}

/// A panic of the bot. Rust has printed its location to stderr.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Calls the bot, and turns a panic into an error.
fn catch_panic<T>(call: impl FnOnce() -> Result<T, BotError>) -> Result<T, BotError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(Box::new(panicked(&*panic))))
}

fn panicked(panic: &(dyn Any + Send)) -> Panicked {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string);
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    Panicked(message.unwrap_or_else(|| "without a message".to_owned()))
}

#[cfg(test)]
mod tests;
