// Generated from proto/ by scripts/proto: do not edit.

//! Oklahoma Rummy: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    OklahomaRummyEnd as End, OklahomaRummyEvent as Event, OklahomaRummyEventKind as EventKind,
    OklahomaRummyMeldKind as MeldKind, OklahomaRummyMove as Move, OklahomaRummyPhase as Phase,
    OklahomaRummyTable as Table, OklahomaRummyTableMeld as TableMeld, OklahomaRummyVerb as Verb,
    OklahomaRummyView as View,
};
use crate::v1;

/// The types of Oklahoma Rummy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OklahomaRummy {}

/// One decision of a seat in Oklahoma Rummy.
pub type Ask = crate::Ask<OklahomaRummy>;
/// A bot's answer to an ask of Oklahoma Rummy.
pub type Choice = crate::Choice<OklahomaRummy>;
/// The end of a match of Oklahoma Rummy.
pub type MatchEnd = crate::MatchEnd<OklahomaRummy>;

impl crate::Game for OklahomaRummy {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::OKLAHOMA_RUMMY;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::OklahomaRummy(crate::games::v1::OklahomaRummyAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::OklahomaRummy(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::OklahomaRummy(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::OklahomaRummy(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::OklahomaRummy(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::OklahomaRummy(chosen)
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
    /// The move: draw a card from the stock.
    pub fn draw() -> Self {
        Self { verb: Verb::Draw.into(), ..Self::default() }
    }

    /// The move: meld the top discard and two cards of the hand, and take the rest of the pile.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn take_pile(kind: MeldKind, cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            verb: Verb::TakePile.into(),
            kind: checked::specified("kind", kind),
            cards: checked::cards(cards),
            ..Self::default()
        }
    }

    /// The move: leave the pile where nothing can be drawn, which ends the hand.
    pub fn decline() -> Self {
        Self { verb: Verb::Decline.into(), ..Self::default() }
    }

    /// The move: put down a meld.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn meld(kind: MeldKind, cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            verb: Verb::Meld.into(),
            kind: checked::specified("kind", kind),
            cards: checked::cards(cards),
            ..Self::default()
        }
    }

    /// The move: add a card of the hand to a meld of one's own.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn extend(index: u32, card: impl Into<String>, end: Option<End>) -> Self {
        Self {
            verb: Verb::Extend.into(),
            index,
            card: checked::card(card),
            end: end.map_or(0, |end| checked::specified("end", end)),
            ..Self::default()
        }
    }

    /// The move: end the turn with a discard.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn discard(card: impl Into<String>) -> Self {
        Self { verb: Verb::Discard.into(), card: checked::card(card), ..Self::default() }
    }

    /// The move: end the turn with nothing but queens of spades in hand.
    pub fn no_discard() -> Self {
        Self { verb: Verb::NoDiscard.into(), ..Self::default() }
    }
}
