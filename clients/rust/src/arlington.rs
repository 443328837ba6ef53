// Generated from proto/ by scripts/proto: do not edit.

//! Arlington: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    ArlingtonActive as Active, ArlingtonEvent as Event, ArlingtonEventKind as EventKind,
    ArlingtonMove as Move, ArlingtonPhase as Phase, ArlingtonSpectrum as Spectrum,
    ArlingtonTable as Table, ArlingtonVerb as Verb, ArlingtonView as View,
};
use crate::v1;

/// The types of Arlington.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arlington {}

/// One decision of a seat in Arlington.
pub type Ask = crate::Ask<Arlington>;
/// A bot's answer to an ask of Arlington.
pub type Choice = crate::Choice<Arlington>;
/// The end of a match of Arlington.
pub type MatchEnd = crate::MatchEnd<Arlington>;

impl crate::Game for Arlington {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::ARLINGTON;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Arlington(crate::games::v1::ArlingtonAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Arlington(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Arlington(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Arlington(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Arlington(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Arlington(chosen)
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
    /// The move: lead a card to a trick.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn lead_card(card: impl Into<String>) -> Self {
        Self { verb: Verb::LeadCard.into(), card: checked::card(card), ..Self::default() }
    }

    /// The move: lead a set.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn lead_set(
        cards: impl IntoIterator<Item = impl Into<String>>,
        spectrum: Option<Spectrum>,
    ) -> Self {
        Self {
            verb: Verb::LeadSet.into(),
            cards: checked::cards(cards),
            spectrum: spectrum.map_or(0, |spectrum| checked::specified("spectrum", spectrum)),
            ..Self::default()
        }
    }

    /// The move: bury a set on a table, the two of spades with it.
    pub fn play_s2(seat: u32, index: u32) -> Self {
        Self { verb: Verb::PlayS2.into(), seat, index, ..Self::default() }
    }

    /// The move: add a card of the hand to a set on a table.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn add(seat: u32, index: u32, card: impl Into<String>) -> Self {
        Self { verb: Verb::Add.into(), seat, index, card: checked::card(card), ..Self::default() }
    }

    /// The move: take a joker of a set on a table for a suit card.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn take_joker(seat: u32, index: u32, card: impl Into<String>) -> Self {
        Self {
            verb: Verb::TakeJoker.into(),
            seat,
            index,
            card: checked::card(card),
            ..Self::default()
        }
    }

    /// The move: play a card to the trick.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play_card(card: impl Into<String>) -> Self {
        Self { verb: Verb::PlayCard.into(), card: checked::card(card), ..Self::default() }
    }

    /// The move: let the active set be.
    pub fn pass() -> Self {
        Self { verb: Verb::Pass.into(), ..Self::default() }
    }

    /// The move: beat the active set with a higher one.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn overplay(cards: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { verb: Verb::Overplay.into(), cards: checked::cards(cards), ..Self::default() }
    }

    /// The move: bury the active set with the two of spades and take the lead.
    pub fn kill() -> Self {
        Self { verb: Verb::Kill.into(), ..Self::default() }
    }
}
