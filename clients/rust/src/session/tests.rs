//! A session with a scripted arena.

use super::*;
use crate::ask::Ask;
use crate::bot::Choice;
use crate::game::Game;
use crate::games::v1::{JamAsk, JamEvent, JamMove, JamView};
use crate::jam::{self, Jam};
use crate::{AnyGame, loo};
use prost::Message;

/// An ask of Jam with a number of moves and one event.
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

pub(crate) fn receive(session: &mut Session, body: Body) -> Received {
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
        arena.receive(Body::MatchStart(start(1)));
        arena
    }

    fn stream(&mut self, epoch: u32, open: &[v1::Ask]) -> Received {
        self.out = Arc::default();
        self.session.stream_opened(&self.out);
        let matches = if epoch > 1 { vec![start(1)] } else { Vec::new() };
        let open_asks = open.to_vec();
        self.receive(Body::Welcome(v1::Welcome { epoch, matches, open_asks, ..Default::default() }))
    }

    fn receive(&mut self, body: Body) -> Received {
        receive(&mut self.session, body)
    }

    fn asks(&mut self, asks: &[v1::Ask]) -> Received {
        self.receive(Body::Asks(v1::Asks { asks: asks.to_vec() }))
    }

    /// The ids of the asks that were answered since the last call.
    fn answered(&self) -> Vec<u64> {
        self.out.take_answers().iter().map(|answer| answer.ask_id).collect()
    }

    /// The asks that are delivered to the bot now.
    fn delivered(&mut self) -> Vec<Arc<UntypedAsk>> {
        let tasks = self.session.take_tasks();
        let asks = tasks.into_iter().filter_map(|task| match task {
            BotTask::Ask(ask) => Some(ask),
            _ => None,
        });
        asks.filter(|ask| self.session.deliver(ask, Instant::now())).collect()
    }
}

fn answer(ask_id: u64) -> v1::Answer {
    v1::Answer { ask_id, ..Default::default() }
}

#[test]
fn a_forced_move_is_answered_without_the_bot_by_default() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 1)]);
    assert_eq!((arena.answered(), arena.delivered().len()), (vec![7], 0));
    let mut arena = Arena::new(true);
    arena.asks(&[ask(7, 1, 1)]);
    assert_eq!((arena.answered(), arena.delivered().len()), (vec![], 1));
}

#[test]
fn waits_in_the_own_queue_and_on_the_network_are_noted() {
    let mut arena = Arena::new(true);
    let (mut now, later) = (Instant::now(), Duration::from_millis);
    let mut notes = Vec::new();
    for id in 1..7 {
        let mut next = ask(id, 1, 2);
        next.clock.as_mut().unwrap().last_round_trip_ms = 250; // 200 ms of it are the bot's
        let message = v1::ArenaMessage { body: Some(Body::Asks(v1::Asks { asks: vec![next] })) };
        arena.session.receive(&message.encode_to_vec(), message.clone(), now);
        let tasks = arena.session.take_tasks();
        let Some(BotTask::Ask(untyped)) = tasks.last() else { panic!("expected an ask") };
        now += later(50);
        assert!(arena.session.deliver(untyped, now));
        now += later(150);
        arena.session.answer(vec![answer(id)], now);
        notes.extend(arena.out.take_answers().into_iter().map(|sent| sent.note));
    }
    let note = "times: 4 asks waited 0.200 s in the own queue; 4 took 0.200 s on the network";
    assert_eq!(notes, ["", "", "", "", note, ""]);
}

#[test]
fn events_of_undelivered_asks_come_with_the_next_ask() {
    let mut arena = Arena::new(false);
    let mut second = ask(8, 1, 2);
    second.played_for = vec![v1::PlayedFor { events_before: 1, ..Default::default() }];
    arena.asks(&[ask(7, 1, 1), second]);
    let [untyped] = &arena.delivered()[..] else { panic!("expected one ask") };
    let typed = Ask::<Jam>::of(untyped).unwrap();
    assert_eq!(typed.events.iter().map(|event| event.seat).collect::<Vec<_>>(), [7, 8]);
    assert_eq!(typed.played_for()[0].events_before, 2);
}

#[test]
fn an_ask_is_open_until_it_is_settled() {
    let closed = v1::AskClosed { ask_id: 7, ..Default::default() };
    let end = v1::MatchEnd { r#match: 1, ..Default::default() };
    type Settle = Box<dyn Fn(&mut Arena)>;
    let ways: [(&str, Settle); 5] = [
        ("closed", Box::new(move |arena| drop(arena.receive(Body::AskClosed(closed.clone()))))),
        (
            "its match ended",
            Box::new(move |arena| drop(arena.receive(Body::MatchEnd(end.clone())))),
        ),
        ("the next ask", Box::new(|arena| drop(arena.asks(&[ask(8, 1, 2)])))),
        ("not in the welcome", Box::new(|arena| drop(arena.stream(2, &[])))),
        ("answered", Box::new(|arena| arena.session.answer(vec![answer(7)], Instant::now()))),
    ];
    for (why, settle) in ways {
        let mut arena = Arena::new(false);
        arena.asks(&[ask(7, 1, 2)]);
        let [untyped] = &arena.delivered()[..] else { panic!("expected one ask") };
        assert!(untyped.is_open(), "{why}");
        settle(&mut arena);
        assert!(!untyped.is_open(), "{why}");
    }
}

#[test]
fn an_abandoned_ask_is_delivered_again_if_the_arena_repeats_it() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    let untyped = arena.delivered().remove(0);
    arena.stream(2, &[]);
    assert!(!arena.session.abandon(&untyped));
    assert_eq!(arena.delivered().len(), 0);
    arena.asks(&[ask(7, 1, 2)]);
    assert!(untyped.is_open());
    assert_eq!(arena.delivered().len(), 1);
    arena.stream(3, &[]);
    arena.asks(&[ask(7, 1, 2)]);
    assert_eq!(arena.session.queued_asks, 0, "delivered");
    assert!(arena.session.abandon(&untyped), "repeated before it was abandoned");
    assert_eq!(arena.session.queued_asks, 1, "queued again");
}

#[test]
fn an_answer_is_repeated_whenever_the_ask_is() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    arena.delivered();
    arena.session.answer(vec![answer(7), answer(7), answer(9)], Instant::now());
    assert_eq!(arena.answered(), [7], "a second answer and one to an unknown ask are dropped");
    arena.stream(2, &[ask(7, 1, 2)]);
    assert_eq!(arena.answered(), [7]);
    arena.stream(3, &[]);
    assert_eq!(arena.answered(), [] as [u64; 0]);
    arena.asks(&[ask(7, 1, 2)]);
    assert_eq!((arena.answered(), arena.delivered().len()), (vec![7], 0));
}

#[test]
fn nothing_is_sent_before_welcome() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    arena.delivered();
    arena.out = Arc::default();
    arena.session.stream_opened(&arena.out);
    arena.session.answer(vec![answer(7)], Instant::now());
    assert_eq!(arena.answered(), [] as [u64; 0]);
}

#[test]
fn a_match_is_missed_if_the_arena_lost_its_state() {
    let mut arena = Arena::new(false);
    arena.session.take_tasks();
    arena.stream(1, &[]);
    let tasks = arena.session.take_tasks();
    assert!(matches!(&tasks[..], [BotTask::Ended(end)] if end.message.ending == 0));
}

#[test]
fn a_choice_gives_an_answer_or_an_error() {
    let game_match = Arc::new(Match { start: start(1) });
    let untyped = UntypedAsk::new(ask(7, 1, 3), game_match, Vec::new(), Instant::now());
    let untyped = Arc::new(untyped.unwrap());
    fn answer<G: Game>(ask: &Arc<UntypedAsk>, choice: Choice<G>) -> Result<v1::Answer, String> {
        let ask = Ask::<G>::of(ask).unwrap();
        choice.note("why").answer(&ask).map_err(|why| why.to_string())
    }
    let index = |index| {
        let choice = Some(v1::answer::Choice::Index(index));
        Ok(v1::Answer { ask_id: 7, choice, note: "why".into() })
    };
    let typed = |chosen: JamMove| {
        let game = Some(v1::game_move::Game::Jam(chosen));
        let choice = Some(v1::answer::Choice::Move(v1::GameMove { game }));
        Ok(v1::Answer { ask_id: 7, choice, note: "why".into() })
    };
    assert_eq!(answer::<Jam>(&untyped, Choice::index(2)), index(2));
    assert_eq!(answer::<Jam>(&untyped, jam::Move::play("4c").into()), index(2));
    assert_eq!(answer::<Jam>(&untyped, jam::Move::play("As").into()), typed(jam::Move::play("As")));
    let why = "move index 3 is out of range: 3 moves are offered";
    assert_eq!(answer::<Jam>(&untyped, Choice::index(3)), Err(why.into()));
    let others = v1::game_move::Game::Loo(loo::Move::play("4c", false));
    assert_eq!(
        answer::<AnyGame>(&untyped, others.into()),
        Err("the move is not a move of jam".into())
    );
    assert!(Ask::<loo::Loo>::of(&untyped).is_none());
}

#[test]
fn a_note_is_truncated_by_code_points() {
    let rows = [("", ""), ("abc", "abc"), ("abcd", "ab…"), ("🂡🂡🂡", "🂡🂡🂡"), ("🂡🂡🂡🂡", "🂡🂡…")];
    for (note, expected) in rows {
        assert_eq!(truncate(note.to_owned(), 3), expected);
    }
}

#[test]
fn an_unknown_kind_of_fault_is_logged_by_number() {
    let mut arena = Arena::new(false);
    arena.asks(&[ask(7, 1, 2)]);
    let closed = v1::AskClosed { ask_id: 7, fault: 99, reason: "new".into() };
    assert_eq!(
        arena.receive(Body::AskClosed(closed)).warnings,
        ["fault in match 1 (jam): kind 99: new"]
    );
}
