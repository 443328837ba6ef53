// Generated from proto/ by scripts/proto: do not edit.

//! Abstrac: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    AbstracEvent as Event, AbstracEventKind as EventKind, AbstracMove as Move,
    AbstracOrder as Order, AbstracPhase as Phase, AbstracVerb as Verb, AbstracView as View,
};
use crate::v1;

/// The types of Abstrac.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstrac {}

/// One decision of a seat in Abstrac.
pub type Ask = crate::Ask<Abstrac>;
/// A bot's answer to an ask of Abstrac.
pub type Choice = crate::Choice<Abstrac>;
/// The end of a match of Abstrac.
pub type MatchEnd = crate::MatchEnd<Abstrac>;

impl crate::Game for Abstrac {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::ABSTRAC;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Abstrac(crate::games::v1::AbstracAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Abstrac(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Abstrac(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Abstrac(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Abstrac(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Abstrac(chosen)
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
    /// The move: say who takes first.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn choose(order: Order) -> Self {
        Self {
            verb: Verb::Choose.into(),
            order: checked::specified("order", order),
            ..Self::default()
        }
    }

    /// The move: take cards from the top.
    pub fn take(count: u32) -> Self {
        Self { verb: Verb::Take.into(), count, ..Self::default() }
    }
}
