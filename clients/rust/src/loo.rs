// Generated from proto/ by scripts/proto: do not edit.

//! Loo: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    LooEnding as Ending, LooEvent as Event, LooEventKind as EventKind, LooMove as Move,
    LooPhase as Phase, LooVerb as Verb, LooView as View,
};
use crate::v1;

/// The types of Loo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loo {}

/// One decision of a seat in Loo.
pub type Ask = crate::Ask<Loo>;
/// A bot's answer to an ask of Loo.
pub type Choice = crate::Choice<Loo>;
/// The end of a match of Loo.
pub type MatchEnd = crate::MatchEnd<Loo>;

impl crate::Game for Loo {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::LOO;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Loo(crate::games::v1::LooAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Loo(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Loo(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Loo(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Loo(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Loo(chosen)
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
    /// The move: play the hand.
    pub fn play_hand() -> Self {
        Self { verb: Verb::PlayHand.into(), ..Self::default() }
    }

    /// The move: stay out of the hand.
    pub fn pass() -> Self {
        Self { verb: Verb::Pass.into(), ..Self::default() }
    }

    /// The move: show a flush, which ends the hand.
    pub fn reveal_flush() -> Self {
        Self { verb: Verb::RevealFlush.into(), ..Self::default() }
    }

    /// The move: show nothing.
    pub fn hold() -> Self {
        Self { verb: Verb::Hold.into(), ..Self::default() }
    }

    /// The move: exchange cards.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn exchange(cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { verb: Verb::Exchange.into(), cards: checked::cards(cards), ..Self::default() }
    }

    /// The move: play a card.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play(card: impl Into<String>, civil: bool) -> Self {
        Self { verb: Verb::Play.into(), card: checked::card(card), civil, ..Self::default() }
    }
}
