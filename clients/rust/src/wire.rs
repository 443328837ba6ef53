//! Finds the games' own messages in the bytes of an arena message.
//!
//! Receipts hash the bytes that the arena sent. To encode a decoded message again would lose the
//! fields that this SDK does not know.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use crate::families::FIELDS;

/// Field numbers on the path from an ArenaMessage to a game's message.
const WELCOME: u32 = 1;
const ASKS: u32 = 3;
const MATCH_END: u32 = 6;
const ASKS_OF_ASKS: u32 = 1;
const OPEN_ASKS_OF_WELCOME: u32 = 4;
const TRAILING_EVENTS_OF_MATCH_END: u32 = 2;

/// The game's message in each ask of `asks`. None where this SDK does not know the game.
pub(crate) fn ask_payloads(message: &[u8]) -> Vec<Option<&[u8]>> {
    nested(message, ASKS, ASKS_OF_ASKS).into_iter().map(game_payload).collect()
}

/// The game's message in each open ask of `welcome`. None where this SDK does not know the game.
pub(crate) fn open_ask_payloads(message: &[u8]) -> Vec<Option<&[u8]>> {
    nested(message, WELCOME, OPEN_ASKS_OF_WELCOME).into_iter().map(game_payload).collect()
}

/// The game's message in each trailing event of `match_end`.
pub(crate) fn trailing_event_payloads(message: &[u8]) -> Vec<&[u8]> {
    nested(message, MATCH_END, TRAILING_EVENTS_OF_MATCH_END)
        .into_iter()
        .filter_map(game_payload)
        .collect()
}

fn nested(message: &[u8], outer: u32, inner: u32) -> Vec<&[u8]> {
    let bodies = delimited_fields(message).into_iter().filter(|(field, _)| *field == outer);
    let inside = bodies.flat_map(|(_, body)| delimited_fields(body));
    inside.filter(|(field, _)| *field == inner).map(|(_, part)| part).collect()
}

/// The message that is set in a `oneof game`.
fn game_payload(message: &[u8]) -> Option<&[u8]> {
    let found = delimited_fields(message).into_iter().rfind(|(field, _)| FIELDS.contains(field));
    found.map(|(_, part)| part)
}

/// The length-delimited fields of a message with their numbers, up to the first malformed byte.
fn delimited_fields(mut message: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    while let Ok((field, kind)) = decode_key(&mut message) {
        if kind == WireType::LengthDelimited {
            let Ok(length) = decode_varint(&mut message) else { break };
            let Some((part, rest)) = message.split_at_checked(length as usize) else { break };
            found.push((field, part));
            message = rest;
        } else if skip_field(kind, field, &mut message, DecodeContext::default()).is_err() {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests;
