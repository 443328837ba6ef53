// Generated from proto/ by scripts/proto: do not edit.

//! Chinese Poker: its messages under short names, and constructors of its moves.

use crate::cards::written;
pub use crate::games::v1::{
    ChinesePokerEvent as Event, ChinesePokerEventKind as EventKind, ChinesePokerMove as Move,
    ChinesePokerNatural as Natural, ChinesePokerPhase as Phase, ChinesePokerRows as Rows,
    ChinesePokerShownNatural as ShownNatural, ChinesePokerVerb as Verb, ChinesePokerView as View,
};
use crate::v1;

/// What a bot of Chinese Poker is generic in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChinesePoker {}

/// One decision of a seat at Chinese Poker.
pub type Ask = crate::Ask<ChinesePoker>;
/// What a bot of Chinese Poker does at an ask.
pub type Choice = crate::Choice<ChinesePoker>;
/// The end of a match of Chinese Poker.
pub type MatchEnd = crate::MatchEnd<ChinesePoker>;

impl crate::Game for ChinesePoker {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::CHINESE_POKER;

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::ChinesePoker(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::ChinesePoker(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::ChinesePoker(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::ChinesePoker(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::ChinesePoker(chosen)
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
    /// The move: set the cards.
    ///
    /// # Panics
    ///
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn set(
        front: impl IntoIterator<Item = impl Into<String>>,
        middle: impl IntoIterator<Item = impl Into<String>>,
        back: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            verb: Verb::Set.into(),
            front: written::cards(front),
            middle: written::cards(middle),
            back: written::cards(back),
        }
    }

    /// The move: show the highest natural of the hand instead.
    pub fn declare_natural() -> Self {
        Self { verb: Verb::DeclareNatural.into(), ..Self::default() }
    }

    /// The move: stand by the setting.
    pub fn play() -> Self {
        Self { verb: Verb::Play.into(), ..Self::default() }
    }

    /// The move: give up for two units to each opponent without a natural.
    pub fn surrender() -> Self {
        Self { verb: Verb::Surrender.into(), ..Self::default() }
    }
}
