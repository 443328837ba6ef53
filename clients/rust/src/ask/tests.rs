//! Asks for tests of bots.

use super::*;
use crate::bot::Choice;
use crate::jam::{self, Jam, Move, View};
use crate::{AnyGame, AnyView, soko};

fn ask() -> jam::Ask {
    Ask::new(View::default(), vec![Move::play("2c"), Move::play("As")])
}

/// An ask that does not offer all legal moves.
fn partial() -> jam::Ask {
    let mut message = ask().message().clone();
    if let Some(v1::ask::Game::Jam(body)) = &mut message.game {
        body.moves_complete = false;
    }
    Ask::of_message(Match { start: v1::MatchStart::default() }, message).unwrap()
}

#[test]
fn an_ask_tells_what_a_choice_stands_for() {
    let rows: [(&str, jam::Ask, jam::Choice, Result<&str, &str>); 5] = [
        ("an index", ask(), Choice::index(1), Ok("As")),
        (
            "an offered move with a note",
            ask(),
            Choice::play(Move::play("2c")).note("low"),
            Ok("2c"),
        ),
        (
            "an index past the list",
            ask(),
            Choice::index(2),
            Err("move index 2 is out of range: 2 moves are offered"),
        ),
        (
            "a move that is not among all legal ones",
            ask(),
            Choice::play(Move::play("Kd")),
            Err("the move is not legal"),
        ),
        (
            "a move that is not offered, of more than are",
            partial(),
            Choice::play(Move::play("Kd")),
            Ok("Kd"),
        ),
    ];
    for (why, ask, choice, expected) in rows {
        match (ask.chosen(choice), expected) {
            (Ok(chosen), Ok(card)) => assert_eq!(chosen.card, card, "{why}"),
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{why}: {error}"),
            (chosen, _) => panic!("{why}: {chosen:?}"),
        }
    }
}

#[test]
fn an_ask_for_tests_is_of_seat_zero_with_a_minute_of_time() {
    let ask = ask();
    assert_eq!((ask.game_match.game(), ask.game_match.seat()), ("jam", 0));
    assert!(ask.is_open() && ask.time_left() > Duration::from_secs(50));
}

#[test]
fn an_ask_of_any_game_has_one_game() {
    let moves = vec![v1::game_move::Game::Jam(Move::play("2c"))];
    let ask = Ask::<AnyGame>::new(AnyView::Jam(View::default()), moves.clone());
    assert_eq!(ask.chosen(Choice::index(0)).unwrap(), moves[0]);
    let typed = Ask::<Jam>::of_message((*ask.game_match).clone(), ask.message().clone());
    assert_eq!(typed.unwrap().moves, [Move::play("2c")]);
    let other = soko::Ask::of_message((*ask.game_match).clone(), ask.message().clone());
    assert!(other.is_none(), "an ask of another game");
    let mixed = || Ask::<AnyGame>::new(AnyView::Soko(soko::View::default()), moves);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(mixed)).is_err());
}
