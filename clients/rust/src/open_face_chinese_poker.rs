// Generated from proto/ by scripts/proto: do not edit.

//! Open Face Chinese Poker: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    OpenFaceChinesePokerEvent as Event, OpenFaceChinesePokerEventKind as EventKind,
    OpenFaceChinesePokerLayout as Layout, OpenFaceChinesePokerMove as Move,
    OpenFaceChinesePokerPhase as Phase, OpenFaceChinesePokerVerb as Verb,
    OpenFaceChinesePokerView as View,
};
use crate::v1;

/// The types of Open Face Chinese Poker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFaceChinesePoker {}

/// One decision of a seat in Open Face Chinese Poker.
pub type Ask = crate::Ask<OpenFaceChinesePoker>;
/// A bot's answer to an ask of Open Face Chinese Poker.
pub type Choice = crate::Choice<OpenFaceChinesePoker>;
/// The end of a match of Open Face Chinese Poker.
pub type MatchEnd = crate::MatchEnd<OpenFaceChinesePoker>;

impl crate::Game for OpenFaceChinesePoker {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::OPEN_FACE_CHINESE_POKER;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::OpenFaceChinesePoker(crate::games::v1::OpenFaceChinesePokerAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::OpenFaceChinesePoker(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::OpenFaceChinesePoker(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::OpenFaceChinesePoker(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::OpenFaceChinesePoker(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::OpenFaceChinesePoker(chosen)
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
    /// The move: put cards into rows.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn place(
        front: impl IntoIterator<Item = impl Into<String>>,
        middle: impl IntoIterator<Item = impl Into<String>>,
        back: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            verb: Verb::Place.into(),
            front: checked::cards(front),
            middle: checked::cards(middle),
            back: checked::cards(back),
        }
    }
}
