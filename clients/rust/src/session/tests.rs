//! A session with an arena that says what a test has it say.

use super::*;
use crate::ask::Ask;
use crate::bot::{Choice, Game};
use crate::games::v1::{JamAsk, JamEvent, JamMove, JamView};
use crate::jam::{self, Jam};
use crate::{AnyGame, loo};
use prost::Message;

/// An ask at Jam with so many moves, which tells of one event.
pub(crate) fn ask(ask_id: u64, number: u32, moves: usize) -> v1::Ask {
    let cards = "23456789".chars().take(moves).map(|rank| jam::Move::play(format!("{rank}c")));
    let body = JamAsk {
        view: Some(JamView::default()),
        events: vec![JamEvent { seat: ask_id as u32, ..Default::default() }],
        moves: cards.collect(),
        moves_complete: true,
    };
    v1::Ask {
        ask_id,
        r#match: number,
        decision: 1,
        clock: Some(v1::Clock { move_ms: 1000, ..Default::default() }),
        game: Some(v1::ask::Game::Jam(body)),
        ..Default::default()
    }
}

pub(crate) fn start(number: u32) -> v1::MatchStart {
    let terms = Some(v1::MatchTerms { game: "jam".into(), ..Default::default() });
    v1::MatchStart { r#match: number, terms, ..Default::default() }
}

pub(crate) fn says(session: &mut Session, body: Body) -> Received {
    let message = v1::ArenaMessage { body: Some(body) };
    session.receive(&message.encode_to_vec(), message.clone(), Instant::now())
}

struct Arena {
    session: Session,
    out: Arc<Outbox>,
}

impl Arena {
    fn new(ask_forced: bool) -> Self {
        let session = Session::new(v1::Hello::default(), ask_forced, None);
        let mut arena = Self { session, out: Arc::default() };
        arena.stream(1, &[]);
        arena.says(Body::MatchStart(start(1)));
        arena
    }

    fn stream(&mut self, epoch: u32, open: &[v1::Ask]) -> Received {
        self.out = Arc::default();
        self.session.opened(&self.out);
        let matches = if epoch > 1 { vec![start(1)] } else { Vec::new() };
        let open_asks = open.to_vec();
        self.says(Body::Welcome(v1::Welcome { epoch, matches, open_asks, ..Default::default() }))
    }

    fn says(&mut self, body: Body) -> Received {
        says(&mut self.session, body)
    }

    fn asks(&mut self, asks: &[v1::Ask]) -> Received {
        self.says(Body::Asks(v1::Asks { asks: asks.to_vec() }))
    }

    /// The asks that were answered since.
    fn answered(&self) -> Vec<u64> {
        self.out.take_answers().iter().map(|answer| answer.ask_id).collect()
    }

    /// The asks that the author is given now.
    fn given(&mut self) -> Vec<Arc<Asked>> {
        let work = self.session.take_work();
        let asked = work.into_iter().filter_map(|item| match item {
            Item::Asked(asked) => Some(asked),
            _ => None,
        });
        asked.filter(|asked| self.session.show(asked)).collect()
    }
}

fn answer(ask_id: u64) -> v1::Answer {
    v1::Answer { ask_id, ..Default::default() }
}

#[test]
fn a_single_move_is_answered_without_the_bot_unless_it_says_otherwise() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 1)]);
    assert_eq!((arena.answered(), arena.given().len()), (vec![7], 0));
    let mut arena = Arena::new(true);
    arena.asks(&[ask(7, 1, 1)]);
    assert_eq!((arena.answered(), arena.given().len()), (vec![], 1));
}

#[test]
fn events_of_asks_that_the_bot_never_saw_come_with_the_next() {
    let mut arena = Arena::new(false);
    let mut second = ask(8, 1, 2);
    second.played_for = vec![v1::PlayedFor { events_before: 1, ..Default::default() }];
    arena.asks(&[ask(7, 1, 1), second]);
    let [asked] = &arena.given()[..] else { panic!("one is given") };
    let given = Ask::<Jam>::of(asked).unwrap();
    assert_eq!(given.events.iter().map(|event| event.seat).collect::<Vec<_>>(), [7, 8]);
    assert_eq!(given.played_for()[0].events_before, 2);
}

#[test]
fn an_answer_is_wanted_until_its_ask_is_settled() {
    let closed = v1::AskClosed { ask_id: 7, ..Default::default() };
    let end = v1::MatchEnd { r#match: 1, ..Default::default() };
    type Settle = Box<dyn Fn(&mut Arena)>;
    let ways: [(&str, Settle); 5] = [
        ("closed", Box::new(move |arena| drop(arena.says(Body::AskClosed(closed.clone()))))),
        ("its match over", Box::new(move |arena| drop(arena.says(Body::MatchEnd(end.clone()))))),
        ("another asked", Box::new(|arena| drop(arena.asks(&[ask(8, 1, 2)])))),
        ("not listed", Box::new(|arena| drop(arena.stream(2, &[])))),
        ("answered", Box::new(|arena| arena.session.answer(vec![answer(7)]))),
    ];
    for (why, settle) in ways {
        let mut arena = Arena::new(false);
        arena.asks(&[ask(7, 1, 2)]);
        let [asked] = &arena.given()[..] else { panic!("one is given") };
        assert!(asked.is_wanted(), "{why}");
        settle(&mut arena);
        assert!(!asked.is_wanted(), "{why}");
    }
}

#[test]
fn a_bot_that_gave_up_is_asked_anew_if_the_ask_comes_again() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    let asked = arena.given().remove(0);
    arena.stream(2, &[]);
    assert!(!arena.session.give_up(&asked));
    assert_eq!(arena.given().len(), 0);
    arena.asks(&[ask(7, 1, 2)]);
    assert!(asked.is_wanted());
    assert_eq!(arena.given().len(), 1);
    arena.stream(3, &[]);
    arena.asks(&[ask(7, 1, 2)]);
    assert_eq!(arena.session.handed, 0, "it was taken up");
    assert!(arena.session.give_up(&asked), "it has come again already");
    assert_eq!(arena.session.handed, 1, "and is handed on anew");
}

#[test]
fn the_same_answer_is_said_again_whenever_the_ask_comes_again() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    arena.given();
    arena.session.answer(vec![answer(7), answer(7), answer(9)]);
    assert_eq!(arena.answered(), [7], "a second one is dropped, and one to no ask");
    arena.stream(2, &[ask(7, 1, 2)]);
    assert_eq!(arena.answered(), [7]);
    arena.stream(3, &[]);
    assert_eq!(arena.answered(), [] as [u64; 0]);
    arena.asks(&[ask(7, 1, 2)]);
    assert_eq!((arena.answered(), arena.given().len()), (vec![7], 0));
}

#[test]
fn without_a_welcome_nothing_is_answered() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    arena.given();
    arena.out = Arc::default();
    arena.session.opened(&arena.out);
    arena.session.answer(vec![answer(7)]);
    assert_eq!(arena.answered(), [] as [u64; 0]);
}

#[test]
fn a_match_of_an_arena_that_began_anew_ends_unheard() {
    let mut arena = Arena::new(false);
    arena.session.take_work();
    arena.stream(1, &[]);
    let work = arena.session.take_work();
    assert!(matches!(&work[..], [Item::Ended(over)] if over.message.ending == 0));
}

#[test]
fn what_a_choice_stands_for() {
    let game_match = Arc::new(Match { start: start(1) });
    let asked = Asked::new(ask(7, 1, 3), game_match, Vec::new(), Instant::now());
    let asked = Arc::new(asked.unwrap());
    fn chosen<G: Game>(asked: &Arc<Asked>, choice: Choice<G>) -> Result<v1::Answer, String> {
        let ask = Ask::<G>::of(asked).unwrap();
        choice.note("why").answer(&ask).map_err(|why| why.to_string())
    }
    let index = |place| {
        let choice = Some(v1::answer::Choice::Index(place));
        Ok(v1::Answer { ask_id: 7, choice, note: "why".into() })
    };
    let typed = |chosen: JamMove| {
        let game = Some(v1::game_move::Game::Jam(chosen));
        let choice = Some(v1::answer::Choice::Move(v1::GameMove { game }));
        Ok(v1::Answer { ask_id: 7, choice, note: "why".into() })
    };
    assert_eq!(chosen::<Jam>(&asked, Choice::index(2)), index(2));
    assert_eq!(chosen::<Jam>(&asked, jam::Move::play("4c").into()), index(2));
    assert_eq!(chosen::<Jam>(&asked, jam::Move::play("As").into()), typed(jam::Move::play("As")));
    let why = "there is no move 3: 3 are offered, from 0";
    assert_eq!(chosen::<Jam>(&asked, Choice::index(3)), Err(why.into()));
    let others = v1::game_move::Game::Loo(loo::Move::play("4c", false));
    assert_eq!(chosen::<AnyGame>(&asked, others.into()), Err("this is no move of jam".into()));
    assert!(Ask::<loo::Loo>::of(&asked).is_none());
}

#[test]
fn a_note_is_cut_by_code_points() {
    let rows = [("", ""), ("abc", "abc"), ("abcd", "ab…"), ("🂡🂡🂡", "🂡🂡🂡"), ("🂡🂡🂡🂡", "🂡🂡…")];
    for (note, wanted) in rows {
        assert_eq!(cut(note.to_owned(), 3), wanted);
    }
}

#[test]
fn kinds_of_faults_that_are_not_known_are_passed_over() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    let closed = v1::AskClosed { ask_id: 7, fault: 99, reason: "new".into() };
    assert_eq!(arena.says(Body::AskClosed(closed)).say, ["fault in match 1 (jam): kind 99: new"]);
}
