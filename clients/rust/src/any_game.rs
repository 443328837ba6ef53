//! The types of a bot that plays every game.

use crate::bot::Choice;
use crate::families::{ALL, families};
use crate::game::Game;
use crate::v1::{ask, game_event, game_move};

/// Stands for all games: views, moves and events are enums with a variant for each family of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyGame {}

macro_rules! any_game {
    ($(($variant:ident, $constant:ident, $number:literal, $module:ident, [$($id:literal),+]),)+) => {
        /// What a seat can see, in any game.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // the variants are named after the games
        #[non_exhaustive] // games will be added
        pub enum AnyView {
            $($variant(crate::$module::View)),+
        }

        impl Game for AnyGame {
            type View = AnyView;
            type Move = game_move::Game;
            type Event = game_event::Game;

            const GAMES: &'static [&'static str] = ALL;

            fn ask(view: AnyView, moves: Vec<game_move::Game>) -> ask::Game {
                match view {
                    $(AnyView::$variant(view) => {
                        let own = moves.into_iter().map(|each| match each {
                            game_move::Game::$variant(each) => each,
                            _ => panic!("the moves and the view are of different games"),
                        });
                        <crate::$module::$variant as Game>::ask(view, own.collect())
                    }),+
                }
            }

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
    };
}
families!(any_game);

impl From<game_move::Game> for Choice<AnyGame> {
    fn from(chosen: game_move::Game) -> Self {
        Self::play(chosen)
    }
}

#[cfg(test)]
mod tests;
