// Generated from proto/ by scripts/proto: do not edit.

//! Jam: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    JamClaim as Claim, JamEvent as Event, JamEventKind as EventKind, JamMove as Move,
    JamPhase as Phase, JamSource as Source, JamVerb as Verb, JamView as View,
};
use crate::v1;

/// The types of Jam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jam {}

/// One decision of a seat in Jam.
pub type Ask = crate::Ask<Jam>;
/// A bot's answer to an ask of Jam.
pub type Choice = crate::Choice<Jam>;
/// The end of a match of Jam.
pub type MatchEnd = crate::MatchEnd<Jam>;

impl crate::Game for Jam {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::JAM;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Jam(crate::games::v1::JamAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Jam(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Jam(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Jam(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Jam(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Jam(chosen)
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
    /// The move: play a card to the trick.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play(card: impl Into<String>) -> Self {
        Self { verb: Verb::Play.into(), card: checked::card(card), ..Self::default() }
    }

    /// The move: draw a card.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn draw(source: Source) -> Self {
        Self {
            verb: Verb::Draw.into(),
            source: checked::specified("source", source),
            ..Self::default()
        }
    }

    /// The move: put a card on the own discard pile.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn discard(card: impl Into<String>) -> Self {
        Self { verb: Verb::Discard.into(), card: checked::card(card), ..Self::default() }
    }
}
