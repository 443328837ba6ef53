//! What stands in a message byte by byte. Receipts hash what came, with fields that this SDK does
//! not know; a message that was read and written again has lost them.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use crate::families::FIELDS;

/// Fields on the way from an ArenaMessage down to what a game says.
const WELCOME: u32 = 1;
const ASKS: u32 = 3;
const MATCH_END: u32 = 6;
const ASKS_OF_ASKS: u32 = 1;
const OPEN_ASKS_OF_WELCOME: u32 = 4;
const TRAILING_EVENTS_OF_MATCH_END: u32 = 2;

/// The game's own message of each ask in `asks`; none where it is of a game that is not known.
pub(crate) fn asked(message: &[u8]) -> Vec<Option<&[u8]>> {
    within(message, ASKS, ASKS_OF_ASKS).into_iter().map(of_game).collect()
}

/// The game's own message of each open ask in `welcome`.
pub(crate) fn asked_in_welcome(message: &[u8]) -> Vec<Option<&[u8]>> {
    within(message, WELCOME, OPEN_ASKS_OF_WELCOME).into_iter().map(of_game).collect()
}

/// The game's own message of each event in `match_end`.
pub(crate) fn trailing(message: &[u8]) -> Vec<&[u8]> {
    within(message, MATCH_END, TRAILING_EVENTS_OF_MATCH_END)
        .into_iter()
        .filter_map(of_game)
        .collect()
}

fn within(message: &[u8], outer: u32, inner: u32) -> Vec<&[u8]> {
    let bodies = parts(message).into_iter().filter(|(field, _)| *field == outer);
    let inside = bodies.flat_map(|(_, body)| parts(body));
    inside.filter(|(field, _)| *field == inner).map(|(_, part)| part).collect()
}

/// What is set in a `oneof game`.
fn of_game(message: &[u8]) -> Option<&[u8]> {
    let found = parts(message).into_iter().rfind(|(field, _)| FIELDS.contains(field));
    found.map(|(_, part)| part)
}

/// The fields of a message that have a length, with their numbers, as far as it can be read.
fn parts(mut message: &[u8]) -> Vec<(u32, &[u8])> {
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
