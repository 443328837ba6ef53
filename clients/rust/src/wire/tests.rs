//! The games' messages in the bytes of arena messages.

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
fn payloads_of_asks_are_found() {
    let jam = JamAsk { moves_complete: true, ..Default::default() };
    let payload = jam.encode_to_vec();
    let asks = vec![ask(None), ask(Some(v1::ask::Game::Jam(jam)))];
    let message = bytes(Body::Asks(v1::Asks { asks: asks.clone() }));
    assert_eq!(ask_payloads(&message), [None, Some(payload.as_slice())]);
    let welcome = v1::Welcome { epoch: 2, open_asks: asks, ..Default::default() };
    let message = bytes(Body::Welcome(welcome));
    assert_eq!(open_ask_payloads(&message), [None, Some(payload.as_slice())]);
}

#[test]
fn payloads_of_trailing_events_are_found() {
    let event = JamEvent { seat: 1, ..Default::default() };
    let trailing_events =
        vec![v1::GameEvent { game: Some(v1::game_event::Game::Jam(event.clone())) }];
    let message = bytes(Body::MatchEnd(v1::MatchEnd { trailing_events, ..Default::default() }));
    assert_eq!(trailing_event_payloads(&message), [event.encode_to_vec()]);
}

#[test]
fn a_truncated_message_is_read_up_to_its_end() {
    assert_eq!(delimited_fields(&[0x0a, 0x05, 1]), []);
    assert_eq!(delimited_fields(&[0x0a, 0x01, 1, 0x08, 0x96]), [(1, &[1][..])]);
}
