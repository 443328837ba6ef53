// Generated from proto/ by scripts/proto: do not edit.

//! Chinese Poker: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    ChinesePokerEvent as Event, ChinesePokerEventKind as EventKind, ChinesePokerMove as Move,
    ChinesePokerNatural as Natural, ChinesePokerPhase as Phase, ChinesePokerRows as Rows,
    ChinesePokerShownNatural as ShownNatural, ChinesePokerVerb as Verb, ChinesePokerView as View,
};
use crate::v1;

/// The types of Chinese Poker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChinesePoker {}

/// One decision of a seat in Chinese Poker.
pub type Ask = crate::Ask<ChinesePoker>;
/// A bot's answer to an ask of Chinese Poker.
pub type Choice = crate::Choice<ChinesePoker>;
/// The end of a match of Chinese Poker.
pub type MatchEnd = crate::MatchEnd<ChinesePoker>;

impl crate::Game for ChinesePoker {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::CHINESE_POKER;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::ChinesePoker(crate::games::v1::ChinesePokerAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

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

/// Constructors of moves. Each takes exactly the fields that its verb uses. They do not check
/// whether the move is legal.
impl Move {
    /// The move: set the cards.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn set(
        front: impl IntoIterator<Item = impl Into<String>>,
        middle: impl IntoIterator<Item = impl Into<String>>,
        back: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            verb: Verb::Set.into(),
            front: checked::cards(front),
            middle: checked::cards(middle),
            back: checked::cards(back),
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
