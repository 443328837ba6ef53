//! Bots at two matches of a scripted arena.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::bot::{BatchBot, Bot, Choice, Player};
use crate::jam::{self, Jam};
use crate::outbox::Outbox;
use crate::session::Session;
use crate::session::tests::{ask, receive, start};
use crate::v1::{self, arena_message::Body};
use crate::{Ask, MatchEnd};

/// The answers at two matches, in the order of their asks.
fn played(player: Player) -> Vec<v1::Answer> {
    let mut session = Session::new(v1::Hello::default(), true, None);
    let out = Arc::new(Outbox::default());
    session.stream_opened(&out);
    receive(&mut session, Body::Welcome(v1::Welcome { epoch: 1, ..Default::default() }));
    for number in [1, 2] {
        receive(&mut session, Body::MatchStart(start(number)));
    }
    receive(&mut session, Body::Asks(v1::Asks { asks: vec![ask(7, 1, 3), ask(8, 2, 3)] }));
    let session = SharedSession::new(session);
    let mut runner = BotRunner::new(session.clone(), player.bots);
    let tasks = session.lock().take_tasks();
    runner.submit(tasks);
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(out.take_answers());
        thread::yield_now();
    }
    for number in [1, 2] {
        let ending = v1::Ending::Completed.into();
        let end = v1::MatchEnd { r#match: number, ending, ..Default::default() };
        receive(&mut session.lock(), Body::MatchEnd(end));
    }
    let tasks = session.lock().take_tasks();
    runner.submit(tasks);
    for thread in runner.close() {
        thread.join().unwrap();
    }
    answers.sort_by_key(|answer| answer.ask_id);
    answers
}

fn index(answer: &v1::Answer) -> Option<u32> {
    match answer.choice {
        Some(v1::answer::Choice::Index(index)) => Some(index),
        _ => None,
    }
}

struct Counting {
    asked: u32,
    mistake: &'static str,
    ends: Arc<AtomicU32>,
}

impl Bot<Jam> for Counting {
    fn choose(&mut self, _: &jam::Ask) -> Result<jam::Choice, BotError> {
        self.asked += 1;
        match self.mistake {
            "" => Ok(Choice::index(2).note(self.asked.to_string())),
            "move index 99" => Ok(Choice::index(99)),
            "a panic" => panic!("a panic"),
            why => Err(why.into()),
        }
    }

    fn ended(&mut self, end: &jam::MatchEnd) {
        self.ends.fetch_add(u32::from(!end.missed()), Ordering::Relaxed);
    }
}

#[test]
fn each_match_has_its_own_bot_and_a_mistake_loses_only_the_move() {
    for mistake in ["", "an error", "a panic", "move index 99"] {
        let ends = Arc::new(AtomicU32::new(0));
        let counter = ends.clone();
        let make = move |_: &Match| Counting { asked: 0, mistake, ends: counter.clone() };
        for answer in played(Player::new("counting", make)) {
            if mistake.is_empty() {
                assert_eq!((index(&answer), answer.note.as_str()), (Some(2), "1"));
            } else {
                assert_eq!(answer.choice, Some(v1::answer::Choice::Failed(true)));
                assert!(answer.note.starts_with("error: ") && answer.note.contains(mistake));
            }
        }
        assert_eq!(ends.load(Ordering::Relaxed), 2, "{mistake}");
    }
}

#[test]
fn if_making_the_bot_fails_its_asks_are_answered_as_errors() {
    let make = |_: &Match| -> Counting { panic!("no bot") };
    for answer in played(Player::new("none", make)) {
        assert_eq!(answer.choice, Some(v1::answer::Choice::Failed(true)));
        assert_eq!(answer.note, "error: panic: no bot");
    }
}

#[test]
fn a_closure_is_a_bot() {
    let make = |_: &Match| |ask: &jam::Ask| Ok((&ask.moves[1]).into());
    for answer in played(Player::new("closure", make)) {
        assert_eq!(index(&answer), Some(1));
    }
}

#[derive(Default)]
struct Batch {
    calls: Arc<AtomicU32>,
    wrong: bool,
}

impl BatchBot<Jam> for Batch {
    fn started(&mut self, _: &Match) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn choose_all(&mut self, asks: &[Ask<Jam>]) -> Result<Vec<Choice<Jam>>, BotError> {
        let choices = asks.iter().map(|_| Choice::index(1));
        Ok(choices.skip(usize::from(self.wrong)).collect())
    }

    fn ended(&mut self, _: &MatchEnd<Jam>) {
        self.calls.fetch_add(10, Ordering::Relaxed);
    }
}

#[test]
fn a_batch_bot_gets_waiting_asks_together() {
    let calls = Arc::new(AtomicU32::new(0));
    let answers = played(Player::batch("batch", Batch { calls: calls.clone(), wrong: false }));
    assert!(answers.iter().all(|answer| index(answer) == Some(1)));
    assert_eq!(calls.load(Ordering::Relaxed), 22);
    let answers = played(Player::batch("batch", Batch { calls, wrong: true }));
    assert!(
        answers.iter().all(|answer| answer.note.contains("the bot returned 1 moves for 2 asks"))
    );
}
