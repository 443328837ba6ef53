//! Jam plays Jam: it wins tricks as cheaply as it can, and saves its strength for streaks.
//!
//! Every card is played once in the end, so what counts is when. The bot keeps its high cards
//! together: it puts low cards back while there is a stock, breaks the other seat's streaks before
//! they are worth something, and goes on with its own.

use std::process::ExitCode;

use cardarena::cards::rank;
use cardarena::jam::{Ask, Choice, Jam, Move, Phase, Source};
use cardarena::{Bot, BotError, Match, Player};

/// Places in `cards::RANKS`.
const TEN: usize = 8;
const JACK: usize = 9;
/// Tricks after which every one matters.
const LATE: usize = 18;

struct JamBot {
    seat: usize,
}

impl Bot<Jam> for JamBot {
    fn choose(&mut self, ask: &Ask) -> Result<Choice, BotError> {
        let mut moves: Vec<&Move> = ask.moves.iter().collect();
        moves.sort_by_key(|each| rank(&each.card));
        let (winner, length) = streak(&ask.view.winners);
        let middle = moves[moves.len() / 2];
        Ok(match ask.view.phase() {
            Phase::Draw => self.draw(ask),
            Phase::Discard => moves[0].into(), // low cards go back: they must be played, but later
            Phase::Follow => follow(ask, &moves).into(),
            _ if length >= 2 && winner == self.seat => {
                let highest = moves[moves.len() - 1];
                Choice::from(highest).note("for four or five in a row")
            }
            _ => middle.into(),
        })
    }
}

impl JamBot {
    fn draw(&self, ask: &Ask) -> Choice {
        let pile = ask
            .view
            .discards
            .get(self.seat)
            .map_or(&[][..], |pile| &pile.cards);
        let high = pile
            .last()
            .and_then(|card| rank(card))
            .is_some_and(|top| top >= TEN);
        let source = if high {
            Source::Discards
        } else {
            Source::Stock
        };
        let wanted = ask.moves.iter().find(|each| each.source() == source);
        wanted.unwrap_or(&ask.moves[0]).into()
    }
}

/// Who won the last tricks, and how many in a row.
fn streak(winners: &[u32]) -> (usize, usize) {
    let last = winners.last().copied().unwrap_or_default();
    let length = winners
        .iter()
        .rev()
        .take_while(|winner| **winner == last)
        .count();
    (last as usize, length)
}

/// Plays to a lead; the moves are sorted by rank.
fn follow<'a>(ask: &Ask, moves: &[&'a Move]) -> &'a Move {
    let led = rank(ask.view.led());
    let Some(cheapest) = moves.iter().find(|each| rank(&each.card) > led) else {
        return moves[0];
    };
    // An early trick that belongs to no streak is worth a middling card at most.
    let (_, length) = streak(&ask.view.winners);
    let matters = length >= 2 || ask.view.winners.len() >= LATE;
    if matters || rank(&cheapest.card) <= Some(JACK) {
        cheapest
    } else {
        moves[0]
    }
}

fn main() -> ExitCode {
    let make = |game_match: &Match| JamBot {
        seat: game_match.seat(),
    };
    cardarena::run(Player::new("jam", make))
}
