//! The game of bots that play every game.

use crate::bot::Game;
use crate::families::{ALL, families};
use crate::v1::{ask, game_event, game_move};

/// What a bot that plays every game is generic in: views, moves and events are enums with a variant
/// for each family of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyGame {}

macro_rules! any_game {
    ($(($variant:ident, $constant:ident, $number:literal, $module:ident, [$($id:literal),+]),)+) => {
        /// What a seat may know, at any game.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // their names say it
        #[non_exhaustive] // there will be more games
        pub enum AnyView {
            $($variant(crate::$module::View)),+
        }

        impl Game for AnyGame {
            type View = AnyView;
            type Move = game_move::Game;
            type Event = game_event::Game;

            const GAMES: &'static [&'static str] = ALL;

            fn view(body: &ask::Game) -> Option<AnyView> {
                Some(match body {
                    $(ask::Game::$variant(body) => AnyView::$variant(body.view.clone().unwrap_or_default())),+
                })
            }

            fn moves(body: &ask::Game) -> Vec<game_move::Game> {
                match body {
                    $(ask::Game::$variant(body) => body.moves.iter().cloned().map(game_move::Game::$variant).collect()),+
                }
            }

            fn events(body: &ask::Game) -> Vec<game_event::Game> {
                match body {
                    $(ask::Game::$variant(body) => body.events.iter().cloned().map(game_event::Game::$variant).collect()),+
                }
            }

            fn event(event: &game_event::Game) -> Option<game_event::Game> {
                Some(event.clone())
            }

            fn wire(chosen: game_move::Game) -> game_move::Game {
                chosen
            }
        }

        /// How many moves an ask offers, and whether the rules allow no others.
        pub(crate) fn offered(body: &ask::Game) -> (usize, bool) {
            match body {
                $(ask::Game::$variant(body) => (body.moves.len(), body.moves_complete)),+
            }
        }

        /// Whether a move is of an ask's game.
        pub(crate) fn fits(body: &ask::Game, chosen: &game_move::Game) -> bool {
            match (body, chosen) {
                $((ask::Game::$variant(_), game_move::Game::$variant(_)) => true,)+
                _ => false,
            }
        }

        /// How many events an ask tells.
        pub(crate) fn events_told(body: &ask::Game) -> usize {
            match body {
                $(ask::Game::$variant(body) => body.events.len()),+
            }
        }
    };
}
families!(any_game);

impl From<game_move::Game> for crate::Choice<AnyGame> {
    fn from(chosen: game_move::Game) -> Self {
        Self::play(chosen)
    }
}

#[cfg(test)]
mod tests;
