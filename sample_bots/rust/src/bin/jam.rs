//! A bot for Jam: it wins tricks with the lowest card that wins, and keeps high cards for streaks.
//!
//! Each card is played once, so only the order matters. The bot collects high cards: it discards low
//! cards while there is a stock, ends the other seat's streaks before they score, and continues its
//! own.

use std::process::ExitCode;

use cardarena::cards::rank;
use cardarena::jam::{Ask, Choice, Jam, Move, Phase, Source};
use cardarena::{Bot, BotError, Match, Player};

/// Indexes in `cards::RANKS`.
const TEN: usize = 8;
const JACK: usize = 9;
/// After this number of tricks, every trick matters.
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
            Phase::Discard => moves[0].into(), // discard the lowest card
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

/// The seat that won the last trick, and the number of tricks that it won in a row.
fn streak(winners: &[u32]) -> (usize, usize) {
    let last = winners.last().copied().unwrap_or_default();
    let length = winners
        .iter()
        .rev()
        .take_while(|winner| **winner == last)
        .count();
    (last as usize, length)
}

/// Chooses a reply to a lead. The moves are sorted by rank.
fn follow<'a>(ask: &Ask, moves: &[&'a Move]) -> &'a Move {
    let led = rank(ask.view.led());
    let Some(cheapest) = moves.iter().find(|each| rank(&each.card) > led) else {
        return moves[0];
    };
    // An early trick outside a streak is worth a jack at most.
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
