//! The author's code at two matches of an arena that says what a test has it say.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::bot::{BatchBot, Bot, Choice, Player};
use crate::jam::{self, Jam};
use crate::outbox::Outbox;
use crate::session::Session;
use crate::session::tests::{ask, says, start};
use crate::v1::{self, arena_message::Body};
use crate::{Ask, MatchEnd};

/// What was answered at two matches, by the ask's id, once the author's code is through.
fn played(player: Player) -> Vec<v1::Answer> {
    let mut session = Session::new(v1::Hello::default(), true, None);
    let out = Arc::new(Outbox::default());
    session.opened(&out);
    says(&mut session, Body::Welcome(v1::Welcome { epoch: 1, ..Default::default() }));
    for number in [1, 2] {
        says(&mut session, Body::MatchStart(start(number)));
    }
    says(&mut session, Body::Asks(v1::Asks { asks: vec![ask(7, 1, 3), ask(8, 2, 3)] }));
    let session = Arc::new(Mutex::new(session));
    let mut desk = Desk::new(session.clone(), player.author);
    let work = lock(&session).take_work();
    desk.hand_on(work);
    let mut answers = Vec::new();
    while answers.len() < 2 {
        answers.extend(out.take_answers());
        thread::yield_now();
    }
    for number in [1, 2] {
        let ending = v1::Ending::Completed.into();
        let end = v1::MatchEnd { r#match: number, ending, ..Default::default() };
        says(&mut lock(&session), Body::MatchEnd(end));
    }
    let work = lock(&session).take_work();
    desk.hand_on(work);
    for thread in desk.close() {
        thread.join().unwrap();
    }
    answers.sort_by_key(|answer| answer.ask_id);
    answers
}

fn index(answer: &v1::Answer) -> Option<u32> {
    match answer.choice {
        Some(v1::answer::Choice::Index(place)) => Some(place),
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
            "there is no move 99" => Ok(Choice::index(99)),
            "a panic of its own" => panic!("a panic of its own"),
            why => Err(why.into()),
        }
    }

    fn ended(&mut self, end: &jam::MatchEnd) {
        self.ends.fetch_add(u32::from(!end.missed()), Ordering::Relaxed);
    }
}

#[test]
fn each_match_has_a_bot_of_its_own_and_a_mistake_costs_the_move() {
    for mistake in ["", "an error of its own", "a panic of its own", "there is no move 99"] {
        let ends = Arc::new(AtomicU32::new(0));
        let told = ends.clone();
        let make = move |_: &Match| Counting { asked: 0, mistake, ends: told.clone() };
        for answer in played(Player::new("counting", make)) {
            if mistake.is_empty() {
                assert_eq!((index(&answer), answer.note.as_str()), (Some(2), "1"));
            } else {
                assert_eq!(index(&answer), Some(0));
                assert!(answer.note.starts_with("error: ") && answer.note.contains(mistake));
            }
        }
        assert_eq!(ends.load(Ordering::Relaxed), 2, "{mistake}");
    }
}

#[test]
fn a_bot_that_cannot_be_made_has_its_moves_played() {
    let make = |_: &Match| -> Counting { panic!("no bot") };
    for answer in played(Player::new("none", make)) {
        assert_eq!((index(&answer), answer.note.as_str()), (Some(0), "error: panic: no bot"));
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
    told: Arc<AtomicU32>,
    wrong: bool,
}

impl BatchBot<Jam> for Batch {
    fn started(&mut self, _: &Match) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn choose_all(&mut self, asks: &[Ask<Jam>]) -> Result<Vec<Choice<Jam>>, BotError> {
        let choices = asks.iter().map(|_| Choice::index(1));
        Ok(choices.skip(usize::from(self.wrong)).collect())
    }

    fn ended(&mut self, _: &MatchEnd<Jam>) {
        self.told.fetch_add(10, Ordering::Relaxed);
    }
}

#[test]
fn a_batch_is_decided_together() {
    let told = Arc::new(AtomicU32::new(0));
    let answers = played(Player::batch("batch", Batch { told: told.clone(), wrong: false }));
    assert!(answers.iter().all(|answer| index(answer) == Some(1)));
    assert_eq!(told.load(Ordering::Relaxed), 22);
    let answers = played(Player::batch("batch", Batch { told, wrong: true }));
    assert!(answers.iter().all(|answer| answer.note.contains("moves were chosen for")));
}
