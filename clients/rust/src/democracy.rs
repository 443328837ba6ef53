// Generated from proto/ by scripts/proto: do not edit.

//! Democracy: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    DemocracyEvent as Event, DemocracyEventKind as EventKind, DemocracyIsland as Island,
    DemocracyMove as Move, DemocracyPhase as Phase, DemocracySuitPoints as SuitPoints,
    DemocracyVerb as Verb, DemocracyView as View,
};
use crate::v1;

/// The types of Democracy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Democracy {}

/// One decision of a seat in Democracy.
pub type Ask = crate::Ask<Democracy>;
/// A bot's answer to an ask of Democracy.
pub type Choice = crate::Choice<Democracy>;
/// The end of a match of Democracy.
pub type MatchEnd = crate::MatchEnd<Democracy>;

impl crate::Game for Democracy {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::DEMOCRACY;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Democracy(crate::games::v1::DemocracyAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

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

/// Constructors of moves. Each takes exactly the fields that its verb uses. They do not check
/// whether the move is legal.
impl Move {
    /// The move: play a card of the hand.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play_card(card: impl Into<String>) -> Self {
        Self { verb: Verb::PlayCard.into(), card: checked::card(card) }
    }
}
