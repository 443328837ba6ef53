// Generated from proto/ by scripts/proto: do not edit.

//! Oklahoma Rummy: its messages under short names, and constructors of its moves.

use crate::cards::written;
pub use crate::games::v1::{
    OklahomaRummyEnd as End, OklahomaRummyEvent as Event, OklahomaRummyEventKind as EventKind,
    OklahomaRummyMeldKind as MeldKind, OklahomaRummyMove as Move, OklahomaRummyPhase as Phase,
    OklahomaRummyTable as Table, OklahomaRummyTableMeld as TableMeld, OklahomaRummyVerb as Verb,
    OklahomaRummyView as View,
};
use crate::v1;

/// What a bot of Oklahoma Rummy is generic in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OklahomaRummy {}

/// One decision of a seat at Oklahoma Rummy.
pub type Ask = crate::Ask<OklahomaRummy>;
/// What a bot of Oklahoma Rummy does at an ask.
pub type Choice = crate::Choice<OklahomaRummy>;
/// The end of a match of Oklahoma Rummy.
pub type MatchEnd = crate::MatchEnd<OklahomaRummy>;

impl crate::Game for OklahomaRummy {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::OKLAHOMA_RUMMY;

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

/// Moves that are whole: each with the fields that its verb uses, and no others.
/// Whether a move is legal now, the rules say.
impl Move {
    /// The move: draw a card from the stock.
    pub fn draw() -> Self {
        Self { verb: Verb::Draw.into(), ..Self::default() }
    }

    /// The move: meld the top discard and two cards of the hand, and take the rest of the pile.
    ///
    /// # Panics
    ///
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn take_pile(kind: MeldKind, cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            verb: Verb::TakePile.into(),
            kind: written::named("kind", kind),
            cards: written::cards(cards),
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
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn meld(kind: MeldKind, cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            verb: Verb::Meld.into(),
            kind: written::named("kind", kind),
            cards: written::cards(cards),
            ..Self::default()
        }
    }

    /// The move: add a card of the hand to a meld of one's own.
    ///
    /// # Panics
    ///
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn extend(index: u32, card: impl Into<String>, end: Option<End>) -> Self {
        Self {
            verb: Verb::Extend.into(),
            index,
            card: written::card(card),
            end: end.map_or(0, |end| written::named("end", end)),
            ..Self::default()
        }
    }

    /// The move: end the turn with a discard.
    ///
    /// # Panics
    ///
    /// If what it is given is not written as a card or suit is, or names nothing.
    #[track_caller]
    pub fn discard(card: impl Into<String>) -> Self {
        Self { verb: Verb::Discard.into(), card: written::card(card), ..Self::default() }
    }

    /// The move: end the turn with nothing but queens of spades in hand.
    pub fn no_discard() -> Self {
        Self { verb: Verb::NoDiscard.into(), ..Self::default() }
    }
}
