//! The author's code: who calls it, and what becomes of its mistakes.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use tracing::error;

use crate::ask::{Asked, Match, Over};
use crate::bot::{Author, BotError, Make, NotWanted, Seated, SeatedMany, failed};
use crate::connection::{Shared, lock};
use crate::session::Item;

/// Hands work on to the threads of the author's code. It never waits for them.
pub(crate) enum Desk {
    /// Each match has a thread of its own.
    Each {
        session: Shared,
        make: Arc<Make>,
        boxes: HashMap<u32, Sender<Item>>,
        threads: Vec<JoinHandle<()>>,
    },
    /// One thread plays them all.
    Batch { work: Option<Sender<Item>>, thread: Option<JoinHandle<()>> },
}

impl Desk {
    pub fn new(session: Shared, author: Author) -> Self {
        match author {
            Author::Each(make) => {
                Self::Each { session, make, boxes: HashMap::new(), threads: Vec::new() }
            }
            Author::Batch(bot) => {
                let (work, items) = channel();
                let thread = thread::spawn(move || play_batches(&session, bot, &items));
                Self::Batch { work: Some(work), thread: Some(thread) }
            }
        }
    }

    pub fn hand_on(&mut self, work: Vec<Item>) {
        for item in work {
            let number = item.number();
            let to = match self {
                Self::Batch { work, .. } => work.clone(),
                Self::Each { session, make, boxes, threads } => match &item {
                    Item::Started(game_match) => {
                        let (to, items) = channel();
                        boxes.insert(number, to);
                        let (session, make) = (session.clone(), make.clone());
                        let game_match = game_match.clone();
                        threads.retain(|thread| !thread.is_finished());
                        threads.push(thread::spawn(move || {
                            play_match(&session, &*make, &game_match, &items);
                        }));
                        None
                    }
                    Item::Asked(_) => boxes.get(&number).cloned(),
                    Item::Ended(_) => boxes.remove(&number),
                },
            };
            if let Some(to) = to {
                let _ = to.send(item); // its thread is there as long as anybody sends
            }
        }
    }

    /// Says that play is over. Who waits for the threads, waits for the author's code.
    pub fn close(&mut self) -> Vec<JoinHandle<()>> {
        match self {
            Self::Each { boxes, threads, .. } => {
                boxes.clear();
                std::mem::take(threads)
            }
            Self::Batch { work, thread } => {
                *work = None;
                thread.take().into_iter().collect()
            }
        }
    }
}

impl Item {
    fn number(&self) -> u32 {
        match self {
            Self::Started(game_match) => game_match.number(),
            Self::Asked(asked) => asked.game_match.number(),
            Self::Ended(over) => over.game_match.number(),
        }
    }
}

fn play_match(session: &Shared, make: &Make, game_match: &Arc<Match>, items: &Receiver<Item>) {
    let number = game_match.number();
    let mut bot = guarded(|| Ok(make(game_match)));
    if let Err(why) = &bot {
        error!(%why, r#match = number, "the bot failed at the start of its match, so first moves are played");
    }
    loop {
        match items.recv() {
            Ok(Item::Started(_)) => {}
            Ok(Item::Asked(asked)) => decide(session, &asked, &mut bot),
            Ok(Item::Ended(over)) => return end(bot, over),
            Err(_) => return end(bot, Over::missed(game_match.clone())), // play is over
        }
    }
}

fn end(bot: Result<Box<dyn Seated>, BotError>, over: Over) {
    let number = over.game_match.number();
    if let Ok(mut bot) = bot
        && let Err(why) = guarded(|| {
            bot.ended(over);
            Ok(())
        })
    {
        error!(%why, r#match = number, "the bot failed at the end of its match");
    }
}

fn decide(session: &Shared, asked: &Arc<Asked>, bot: &mut Result<Box<dyn Seated>, BotError>) {
    while lock(session).show(asked) {
        let answer = match bot {
            Ok(bot) => match guarded(|| bot.decide(asked)) {
                Ok(answer) => answer,
                Err(why) if why.is::<NotWanted>() && !asked.is_wanted() => {
                    if lock(session).give_up(asked) {
                        continue;
                    }
                    return;
                }
                Err(why) => {
                    let (ask, number) = (asked.id(), asked.game_match.number());
                    error!(%why, ask, r#match = number, "the bot failed at an ask, so the first move is played");
                    failed(ask, &why)
                }
            },
            Err(why) => failed(asked.id(), why),
        };
        return lock(session).answer(vec![answer]);
    }
}

/// Gives all asks that wait to one object.
fn play_batches(session: &Shared, mut bot: Box<dyn SeatedMany>, items: &Receiver<Item>) {
    while let Ok(first) = items.recv() {
        let mut asks = Vec::new();
        for item in [first].into_iter().chain(items.try_iter()) {
            let number = item.number();
            match item {
                Item::Started(game_match) => {
                    let told = guarded(|| {
                        bot.started(&game_match);
                        Ok(())
                    });
                    if let Err(why) = told {
                        error!(%why, r#match = number, "the bot failed at the start of a match");
                    }
                }
                Item::Ended(over) => {
                    let told = guarded(|| {
                        bot.ended(over);
                        Ok(())
                    });
                    if let Err(why) = told {
                        error!(%why, r#match = number, "the bot failed at the end of a match");
                    }
                }
                Item::Asked(asked) if lock(session).show(&asked) => asks.push(asked),
                Item::Asked(_) => {}
            }
        }
        if !asks.is_empty() {
            decide_all(session, &mut *bot, &asks);
        }
    }
}

fn decide_all(session: &Shared, bot: &mut dyn SeatedMany, asks: &[Arc<Asked>]) {
    let answers = match guarded(|| bot.decide(asks)) {
        Ok(decided) => {
            let each = decided.into_iter().zip(asks).map(|(answer, asked)| {
                answer.unwrap_or_else(|why| {
                    error!(%why, ask = asked.id(), "the bot failed at an ask, so the first move is played");
                    failed(asked.id(), &why)
                })
            });
            each.collect()
        }
        Err(why) => {
            error!(%why, asks = asks.len(), "the bot failed at a batch, so first moves are played");
            asks.iter().map(|asked| failed(asked.id(), &why)).collect()
        }
    };
    lock(session).answer(answers);
}

/// A panic of the author's code. Where it was, Rust says on stderr.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Calls the author's code; a panic is an error.
fn guarded<T>(call: impl FnOnce() -> Result<T, BotError>) -> Result<T, BotError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(Box::new(panicked(&*panic))))
}

fn panicked(panic: &(dyn Any + Send)) -> Panicked {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    Panicked(words.unwrap_or_else(|| "of no words".to_owned()))
}

#[cfg(test)]
mod tests;
