//! Messages byte by byte.

use super::*;
use crate::games::v1::{JamAsk, JamEvent};
use crate::v1::{self, arena_message::Body};
use prost::Message;

fn ask(game: Option<v1::ask::Game>) -> v1::Ask {
    v1::Ask {
        ask_id: 300,
        r#match: 7,
        move_texts: vec!["play Td".into()],
        game,
        ..Default::default()
    }
}

fn bytes(body: Body) -> Vec<u8> {
    v1::ArenaMessage { body: Some(body) }.encode_to_vec()
}

#[test]
fn what_a_game_says_is_found_where_it_stands() {
    let jam = JamAsk { moves_complete: true, ..Default::default() };
    let payload = jam.encode_to_vec();
    let asks = vec![ask(None), ask(Some(v1::ask::Game::Jam(jam)))];
    let message = bytes(Body::Asks(v1::Asks { asks: asks.clone() }));
    assert_eq!(asked(&message), [None, Some(payload.as_slice())]);
    let welcome = v1::Welcome { epoch: 2, open_asks: asks, ..Default::default() };
    let message = bytes(Body::Welcome(welcome));
    assert_eq!(asked_in_welcome(&message), [None, Some(payload.as_slice())]);
}

#[test]
fn events_of_an_end_are_without_the_message_around_them() {
    let event = JamEvent { seat: 1, ..Default::default() };
    let trailing_events =
        vec![v1::GameEvent { game: Some(v1::game_event::Game::Jam(event.clone())) }];
    let message = bytes(Body::MatchEnd(v1::MatchEnd { trailing_events, ..Default::default() }));
    assert_eq!(trailing(&message), [event.encode_to_vec()]);
}

#[test]
fn what_is_cut_is_read_as_far_as_it_goes() {
    assert_eq!(parts(&[0x0a, 0x05, 1]), []);
    assert_eq!(parts(&[0x0a, 0x01, 1, 0x08, 0x96]), [(1, &[1][..])]);
}
