//! The trait that gives a game its types.

use std::fmt;

use crate::v1;

/// The types of a game: its views, moves and events.
///
/// Each family of games implements it once, such as [`Jam`](crate::jam::Jam). [`AnyGame`](crate::AnyGame)
/// stands for all games.
pub trait Game: Sized + 'static {
    /// What a seat can see.
    type View: Clone + fmt::Debug + Send;
    /// What a seat can do.
    type Move: Clone + fmt::Debug + PartialEq + Send;
    /// What can happen in a match.
    type Event: Clone + fmt::Debug + Send;

    /// The ids of the games that use these types.
    const GAMES: &'static [&'static str];

    /// An ask of these moves as all that are legal.
    #[doc(hidden)]
    fn ask(view: Self::View, moves: Vec<Self::Move>) -> v1::ask::Game;
    #[doc(hidden)]
    fn view(body: &v1::ask::Game) -> Option<Self::View>;
    #[doc(hidden)]
    fn moves(body: &v1::ask::Game) -> Vec<Self::Move>;
    #[doc(hidden)]
    fn events(body: &v1::ask::Game) -> Vec<Self::Event>;
    #[doc(hidden)]
    fn event(event: &v1::game_event::Game) -> Option<Self::Event>;
    #[doc(hidden)]
    fn wire(chosen: Self::Move) -> v1::game_move::Game;
}
