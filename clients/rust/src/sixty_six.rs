// Generated from proto/ by scripts/proto: do not edit.

//! Sixty Six: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    SixtySixEvent as Event, SixtySixEventKind as EventKind, SixtySixMove as Move,
    SixtySixPhase as Phase, SixtySixReason as Reason, SixtySixVerb as Verb, SixtySixView as View,
};
use crate::v1;

/// The types of Sixty Six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SixtySix {}

/// One decision of a seat in Sixty Six.
pub type Ask = crate::Ask<SixtySix>;
/// A bot's answer to an ask of Sixty Six.
pub type Choice = crate::Choice<SixtySix>;
/// The end of a match of Sixty Six.
pub type MatchEnd = crate::MatchEnd<SixtySix>;

impl crate::Game for SixtySix {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::SIXTY_SIX;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::SixtySix(crate::games::v1::SixtySixAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::SixtySix(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::SixtySix(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::SixtySix(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::SixtySix(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::SixtySix(chosen)
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
    /// The move: say that the own points are 66 or more, which ends the hand.
    pub fn claim() -> Self {
        Self { verb: Verb::Claim.into(), ..Self::default() }
    }

    /// The move: close the stock.
    pub fn close() -> Self {
        Self { verb: Verb::Close.into(), ..Self::default() }
    }

    /// The move: take the upcard for the nine of trump.
    pub fn exchange() -> Self {
        Self { verb: Verb::Exchange.into(), ..Self::default() }
    }

    /// The move: show king and queen of a suit before leading one of them.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn marriage(suit: impl Into<String>) -> Self {
        Self { verb: Verb::Marriage.into(), suit: checked::suit(suit), ..Self::default() }
    }

    /// The move: play a card.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play(card: impl Into<String>) -> Self {
        Self { verb: Verb::Play.into(), card: checked::card(card), ..Self::default() }
    }
}
