// Generated from proto/ by scripts/proto: do not edit.

//! Soko: its messages under short names, and constructors of its moves.

pub use crate::games::v1::{
    SokoAction as Action, SokoChips as Chips, SokoEvent as Event, SokoEventKind as EventKind,
    SokoLine as Line, SokoMove as Move, SokoPhase as Phase, SokoVerb as Verb, SokoView as View,
};
use crate::v1;

/// The types of Soko.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soko {}

/// One decision of a seat in Soko.
pub type Ask = crate::Ask<Soko>;
/// A bot's answer to an ask of Soko.
pub type Choice = crate::Choice<Soko>;
/// The end of a match of Soko.
pub type MatchEnd = crate::MatchEnd<Soko>;

impl crate::Game for Soko {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::SOKO;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Soko(crate::games::v1::SokoAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Soko(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Soko(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Soko(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Soko(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Soko(chosen)
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
    /// The move: open the first round.
    pub fn bring_in(to: u32) -> Self {
        Self { verb: Verb::BringIn.into(), to }
    }

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
        Self { verb: Verb::Bet.into(), to }
    }

    /// The move: go beyond what is to be matched.
    pub fn raise(to: u32) -> Self {
        Self { verb: Verb::Raise.into(), to }
    }
}

impl View {
    /// The amounts that a bet or raise of the seat to act may reach. None if it may not bet.
    pub fn bets(&self) -> Option<std::ops::RangeInclusive<u32>> {
        Some(self.min_to?..=self.max_to?)
    }
}
