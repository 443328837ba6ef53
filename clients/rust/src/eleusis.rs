// Generated from proto/ by scripts/proto: do not edit.

//! Eleusis: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    EleusisCalls as Calls, EleusisEnd as End, EleusisEvent as Event, EleusisEventKind as EventKind,
    EleusisGuesses as Guesses, EleusisLayout as Layout, EleusisMove as Move,
    EleusisOffice as Office, EleusisOpinion as Opinion, EleusisPhase as Phase, EleusisVerb as Verb,
    EleusisVerdict as Verdict, EleusisView as View,
};
use crate::v1;

/// The types of Eleusis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eleusis {}

/// One decision of a seat in Eleusis.
pub type Ask = crate::Ask<Eleusis>;
/// A bot's answer to an ask of Eleusis.
pub type Choice = crate::Choice<Eleusis>;
/// The end of a match of Eleusis.
pub type MatchEnd = crate::MatchEnd<Eleusis>;

impl crate::Game for Eleusis {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::ELEUSIS;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Eleusis(crate::games::v1::EleusisAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Eleusis(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Eleusis(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Eleusis(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Eleusis(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Eleusis(chosen)
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
    /// The move: set the rule of the hand.
    pub fn rule(text: impl Into<String>) -> Self {
        Self { verb: Verb::Rule.into(), text: text.into(), ..Self::default() }
    }

    /// The move: play cards that follow each other from left to right.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play(cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { verb: Verb::Play.into(), cards: checked::cards(cards), ..Self::default() }
    }

    /// The move: say that no card of the hand is right, and show it.
    pub fn no_play() -> Self {
        Self { verb: Verb::NoPlay.into(), ..Self::default() }
    }

    /// The move: judge as the prophet.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn judge(opinion: Opinion, card: Option<&str>) -> Self {
        Self {
            verb: Verb::Judge.into(),
            opinion: checked::specified("opinion", opinion),
            card: card.map(checked::card),
            ..Self::default()
        }
    }

    /// The move: become the prophet.
    pub fn declare() -> Self {
        Self { verb: Verb::Declare.into(), ..Self::default() }
    }

    /// The move: guess the rule.
    pub fn guess(text: impl Into<String>) -> Self {
        Self { verb: Verb::Guess.into(), text: text.into(), ..Self::default() }
    }

    /// The move: neither declare nor guess.
    pub fn pass() -> Self {
        Self { verb: Verb::Pass.into(), ..Self::default() }
    }
}
