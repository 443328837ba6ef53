// Generated from proto/ by scripts/proto: do not edit.

//! Klaberjass: its messages under short names, and constructors of its moves.

use crate::cards::checked;
pub use crate::games::v1::{
    KlaberjassAuction as Auction, KlaberjassCall as Call, KlaberjassContest as Contest,
    KlaberjassEvent as Event, KlaberjassEventKind as EventKind, KlaberjassMove as Move,
    KlaberjassPhase as Phase, KlaberjassSplit as Split, KlaberjassVerb as Verb,
    KlaberjassView as View, KlaberjassWord as Word,
};
use crate::v1;

/// The types of Klaberjass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Klaberjass {}

/// One decision of a seat in Klaberjass.
pub type Ask = crate::Ask<Klaberjass>;
/// A bot's answer to an ask of Klaberjass.
pub type Choice = crate::Choice<Klaberjass>;
/// The end of a match of Klaberjass.
pub type MatchEnd = crate::MatchEnd<Klaberjass>;

impl crate::Game for Klaberjass {
    type View = View;
    type Move = Move;
    type Event = Event;

    const GAMES: &'static [&'static str] = crate::families::KLABERJASS;

    fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {
        v1::ask::Game::Klaberjass(crate::games::v1::KlaberjassAsk {
            view: Some(view),
            moves,
            moves_complete: true,
            ..Default::default()
        })
    }

    fn view(body: &v1::ask::Game) -> Option<View> {
        let v1::ask::Game::Klaberjass(body) = body else {
            return None;
        };
        Some(body.view.clone().unwrap_or_default())
    }

    fn moves(body: &v1::ask::Game) -> Vec<Move> {
        match body {
            v1::ask::Game::Klaberjass(body) => body.moves.clone(),
            _ => Vec::new(),
        }
    }

    fn events(body: &v1::ask::Game) -> Vec<Event> {
        match body {
            v1::ask::Game::Klaberjass(body) => body.events.clone(),
            _ => Vec::new(),
        }
    }

    fn event(event: &v1::game_event::Game) -> Option<Event> {
        match event {
            v1::game_event::Game::Klaberjass(event) => Some(event.clone()),
            _ => None,
        }
    }

    fn wire(chosen: Move) -> v1::game_move::Game {
        v1::game_move::Game::Klaberjass(chosen)
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
    /// The move: make the suit of the upcard trump.
    pub fn take() -> Self {
        Self { verb: Verb::Take.into(), ..Self::default() }
    }

    /// The move: let the other seat bid.
    pub fn pass() -> Self {
        Self { verb: Verb::Pass.into(), ..Self::default() }
    }

    /// The move: offer to throw the hand in; if refused, make trump oneself.
    pub fn schmeiss() -> Self {
        Self { verb: Verb::Schmeiss.into(), ..Self::default() }
    }

    /// The move: accept the schmeiss.
    pub fn yes() -> Self {
        Self { verb: Verb::Yes.into(), ..Self::default() }
    }

    /// The move: refuse the schmeiss.
    pub fn no() -> Self {
        Self { verb: Verb::No.into(), ..Self::default() }
    }

    /// The move: make a suit trump.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn name(suit: impl Into<String>) -> Self {
        Self { verb: Verb::Name.into(), suit: checked::suit(suit), ..Self::default() }
    }

    /// The move: leave the upcard.
    pub fn keep() -> Self {
        Self { verb: Verb::Keep.into(), ..Self::default() }
    }

    /// The move: take the upcard for the seven of trump.
    pub fn exchange() -> Self {
        Self { verb: Verb::Exchange.into(), ..Self::default() }
    }

    /// The move: announce no sequence.
    pub fn no_meld() -> Self {
        Self { verb: Verb::NoMeld.into(), ..Self::default() }
    }

    /// The move: announce the best sequence.
    pub fn announce(value: u32) -> Self {
        Self { verb: Verb::Announce.into(), value, ..Self::default() }
    }

    /// The move: let the announcement stand.
    pub fn good() -> Self {
        Self { verb: Verb::Good.into(), ..Self::default() }
    }

    /// The move: answer a twenty with a fifty.
    pub fn not_good() -> Self {
        Self { verb: Verb::NotGood.into(), ..Self::default() }
    }

    /// The move: answer with the same value.
    pub fn how_high() -> Self {
        Self { verb: Verb::HowHigh.into(), ..Self::default() }
    }

    /// The move: play a card.
    ///
    /// # Panics
    ///
    /// If an argument is not a card or suit, or is unspecified.
    #[track_caller]
    pub fn play(card: impl Into<String>, bela: bool) -> Self {
        Self { verb: Verb::Play.into(), card: checked::card(card), bela, ..Self::default() }
    }
}
