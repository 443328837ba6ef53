//! Moves and views of the games, typed and of any game.

use super::*;
use crate::ask_body::{accepts, move_count, moves_complete};
use crate::{AnyGame, eleusis, jam, klaberjass, oklahoma_rummy, pineapple, soko};

#[test]
fn constructors_set_the_fields_that_their_verb_uses() {
    let raise = pineapple::Move::raise(12);
    assert_eq!((raise.verb(), raise.to), (pineapple::Verb::Raise, 12));
    assert_eq!(raise, pineapple::Move { to: 12, verb: raise.verb, ..Default::default() });
    let play = klaberjass::Move::play("Jh", true);
    assert_eq!((play.card.as_str(), play.bela, play.suit.as_str()), ("Jh", true, ""));
    let judge = eleusis::Move::judge(eleusis::Opinion::Right, None);
    assert_eq!((judge.opinion(), judge.card), (eleusis::Opinion::Right, None));
    let cards = ["4s", "4d", "4c"];
    let meld = oklahoma_rummy::Move::meld(oklahoma_rummy::MeldKind::Set, cards);
    assert_eq!(meld.cards, cards);
}

#[test]
fn constructors_panic_at_invalid_arguments() {
    let rows: [(&str, fn()); 7] = [
        ("a card of three characters", || drop(pineapple::Move::discard("10h"))),
        ("an empty card", || drop(jam::Move::play(""))),
        ("one invalid card of two", || drop(eleusis::Move::play(["As", "Zz"]))),
        ("an invalid optional card", || {
            drop(eleusis::Move::judge(eleusis::Opinion::Wrong, Some("X")));
        }),
        ("an unspecified source", || drop(jam::Move::draw(jam::Source::Unspecified))),
        ("an unspecified optional end", || {
            drop(oklahoma_rummy::Move::extend(1, "4c", Some(oklahoma_rummy::End::Unspecified)));
        }),
        ("an invalid suit", || drop(klaberjass::Move::name("x"))),
    ];
    for (why, make) in rows {
        assert!(std::panic::catch_unwind(make).is_err(), "{why}");
    }
    assert_eq!(oklahoma_rummy::Move::extend(1, "4c", None).end(), oklahoma_rummy::End::Unspecified);
    assert_eq!(klaberjass::Move::name("h").suit, "h");
    assert_eq!(jam::Move::play("Jk").card, "Jk");
}

#[test]
fn bets_are_the_range_of_the_view() {
    let mut view = soko::View::default();
    assert_eq!(view.bets(), None);
    (view.min_to, view.max_to) = (Some(2), Some(9));
    assert_eq!(view.bets(), Some(2..=9));
}

#[test]
fn asks_of_any_game_have_enums() {
    let body = crate::games::v1::JamAsk {
        moves: vec![jam::Move::draw(jam::Source::Stock)],
        moves_complete: true,
        ..Default::default()
    };
    let body = ask::Game::Jam(body);
    assert_eq!(AnyGame::view(&body), Some(AnyView::Jam(jam::View::default())));
    let moves = AnyGame::moves(&body);
    assert_eq!(moves, [game_move::Game::Jam(jam::Move::draw(jam::Source::Stock))]);
    assert_eq!((move_count(&body), moves_complete(&body)), (1, true));
    assert!(accepts(&body, &moves[0]));
    assert!(!accepts(&body, &game_move::Game::Soko(soko::Move::fold())));
}

#[test]
fn every_game_is_supported_once() {
    let ids: std::collections::HashSet<_> = AnyGame::GAMES.iter().collect();
    assert!(ids.contains(&"jam"));
    assert_eq!(ids.len(), AnyGame::GAMES.len());
}
