//! Reads the `oneof game` of an ask without knowing which game it is.

use crate::families::families;
use crate::v1::{ask, game_move};

macro_rules! ask_body {
    ($(($variant:ident, $constant:ident, $number:literal, $module:ident, [$($id:literal),+]),)+) => {
        /// The number of moves that an ask offers.
        pub(crate) fn move_count(body: &ask::Game) -> usize {
            match body {
                $(ask::Game::$variant(body) => body.moves.len()),+
            }
        }

        /// Whether the offered moves are all legal moves.
        pub(crate) fn moves_complete(body: &ask::Game) -> bool {
            match body {
                $(ask::Game::$variant(body) => body.moves_complete),+
            }
        }

        /// The number of events that came with an ask.
        pub(crate) fn event_count(body: &ask::Game) -> usize {
            match body {
                $(ask::Game::$variant(body) => body.events.len()),+
            }
        }

        /// Whether a move belongs to the game of an ask.
        pub(crate) fn accepts(body: &ask::Game, chosen: &game_move::Game) -> bool {
            match (body, chosen) {
                $((ask::Game::$variant(_), game_move::Game::$variant(_)) => true,)+
                _ => false,
            }
        }
    };
}
families!(ask_body);
