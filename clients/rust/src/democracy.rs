// Generated from proto/ by scripts/proto: do not edit.

//! Democracy: its messages under short names, and constructors of its moves.

use crate::cards::written;
pub use crate::games::v1::{
    DemocracyEvent as Event, DemocracyEventKind as EventKind, DemocracyIsland as Island,
    DemocracyMove as Move, DemocracyPhase as Phase, DemocracySuitPoints as SuitPoints,
    DemocracyVerb as Verb, DemocracyView as View,
};
use crate::v1;

/// What a bot of Democracy is generic in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Democracy {}

/// One decision of a seat at Democracy.
pub type Ask = crate::Ask<Democracy>;
/// What a bot of Democracy does at an ask.
pub type Choice = crate::Choice<Democracy>;
/// The end of a match of Democracy.
pub type MatchEnd = crate::MatchEnd<Democracy>;

impl crate::Game for Democracy {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::DEMOCRACY;

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Democracy(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Democracy(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Democracy(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Democracy(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Democracy(chosen)
    }
}

impl From<Move> for Choice {
    fn from(chosen: Move) -> Self {
        Self::play(chosen)
    }
}

impl From<&Move> for Choice {
    fn from(chosen: &Move) -> Self {
        Self::play(chosen.to_owned())
    }
}

/// Moves that are whole: each with the fields that its verb uses, and no others.
/// Whether a move is legal now, the rules say.
impl Move {
    /// The move: play a card of the hand.
    ///
    /// # Panics
    ///
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn play_card(card: impl Into<String>) -> Self {
        Self { verb: Verb::PlayCard.into(), card: written::card(card) }
    }
}
