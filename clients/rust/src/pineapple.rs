// Generated from proto/ by scripts/proto: do not edit.

//! Pineapple: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    PineappleAction as Action, PineappleChips as Chips, PineappleEvent as Event,
    PineappleEventKind as EventKind, PineappleLine as Line, PineappleMove as Move,
    PineapplePhase as Phase, PineappleStreet as Street, PineappleVerb as Verb,
    PineappleView as View,
};
use crate::v1;

/// The types of Pineapple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pineapple {}

/// One decision of a seat in Pineapple.
pub type Ask = crate::Ask<Pineapple>;
/// A bot's answer to an ask of Pineapple.
pub type Choice = crate::Choice<Pineapple>;
/// The end of a match of Pineapple.
pub type MatchEnd = crate::MatchEnd<Pineapple>;

impl crate::Game for Pineapple {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::PINEAPPLE;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Pineapple(crate::games::v1::PineappleAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Pineapple(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Pineapple(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Pineapple(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Pineapple(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Pineapple(chosen)
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
    /// The move: give up the hand. Not allowed where checking is free.
    pub fn fold() -> Self {
        Self { verb: Verb::Fold.into(), ..Self::default() }
    }

    /// The move: add nothing, as there is nothing to call.
    pub fn check() -> Self {
        Self { verb: Verb::Check.into(), ..Self::default() }
    }

    /// The move: match the bet, or go all-in below it.
    pub fn call() -> Self {
        Self { verb: Verb::Call.into(), ..Self::default() }
    }

    /// The move: be the first to put chips in.
    pub fn bet(to: u32) -> Self {
        Self { verb: Verb::Bet.into(), to, ..Self::default() }
    }

    /// The move: go beyond what is to be matched.
    pub fn raise(to: u32) -> Self {
        Self { verb: Verb::Raise.into(), to, ..Self::default() }
    }

    /// The move: give up one of the own three cards.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn discard(card: impl Into<String>) -> Self {
        Self { verb: Verb::Discard.into(), card: checked::card(card), ..Self::default() }
    }
}

impl View {
    /// The amounts that a bet or raise of the seat to act may reach. None if it may not bet.
    pub fn bets(&self) -> Option<std::ops::RangeInclusive<u32>> {
        Some(self.min_to?..=self.max_to?)
    }
}
