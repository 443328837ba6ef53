//! Reads and sorts cards. A card is a string of two characters, rank and suit, as `Td`; a joker is
//! `Jk`. So they come from the arena, and so they go back.

use std::fmt;

/// Ranks from low to high, the ace high.
pub const RANKS: &str = "23456789TJQKA";
/// Suits in canonical order: clubs, diamonds, hearts, spades.
pub const SUITS: &str = "cdhs";
/// The card that has neither.
pub const JOKER: &str = "Jk";

/// What was read is no card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCard(String);

impl fmt::Display for NoCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no card: rank and suit are wanted, as Td", self.0)
    }
}

impl std::error::Error for NoCard {}

/// Reads cards from text, with or without spaces: `AsKd` or `As Kd`.
///
/// # Errors
///
/// If a part of it is no card.
///
/// # Examples
///
/// ```
/// # use cardarena::cards;
/// let mut hand = cards::parse("Jk As2d 2c")?;
/// cards::sort(&mut hand);
/// assert_eq!(hand, ["2c", "2d", "As", "Jk"]);
/// # Ok::<(), cards::NoCard>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<String>, NoCard> {
    let letters: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let cards = letters.chunks(2).map(|pair| pair.iter().collect::<String>());
    cards.map(|card| if is_card(&card) { Ok(card) } else { Err(NoCard(card)) }).collect()
}

/// Says whether a text is a card.
pub fn is_card(text: &str) -> bool {
    text == JOKER || text.len() == 2 && rank(text).is_some() && suit(text).is_some()
}

/// The place of a card's rank in [`RANKS`]; none of a joker.
pub fn rank(card: &str) -> Option<usize> {
    if card == JOKER { None } else { RANKS.find(card.chars().next()?) }
}

/// The place of a card's suit in [`SUITS`]; none of a joker.
pub fn suit(card: &str) -> Option<usize> {
    if card == JOKER { None } else { SUITS.find(card.chars().nth(1)?) }
}

/// Orders cards by rank, then suit, the joker last.
pub fn place(card: &str) -> usize {
    let joker = RANKS.len() * SUITS.len();
    rank(card).zip(suit(card)).map_or(joker, |(rank, suit)| rank * SUITS.len() + suit)
}

/// Sorts cards in place, by [`place`].
pub fn sort<C: AsRef<str>>(cards: &mut [C]) {
    cards.sort_by_key(|card| place(card.as_ref()));
}

/// Counts the cards of a suit, which is one of the letters of [`SUITS`].
pub fn count<C: AsRef<str>>(cards: &[C], of: char) -> usize {
    let wanted = SUITS.find(of);
    cards.iter().filter(|card| wanted.is_some() && suit(card.as_ref()) == wanted).count()
}

/// What is written into moves. What is no card, no suit or names nothing is a mistake of the author's code,
/// which is told where it stands.
pub(crate) mod written {
    use super::{NoCard, SUITS, is_card};

    #[track_caller]
    pub fn card(text: impl Into<String>) -> String {
        let text = text.into();
        if is_card(&text) { text } else { panic!("{}", NoCard(text)) }
    }

    #[track_caller]
    pub fn cards(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
        let mut all = Vec::new();
        for text in texts {
            all.push(card(text));
        }
        all
    }

    #[track_caller]
    pub fn suit(text: impl Into<String>) -> String {
        let text = text.into();
        let known = text.len() == 1 && SUITS.contains(&text);
        if known { text } else { panic!("{text:?} is no suit: one of {SUITS} is wanted") }
    }

    /// The number of an enum's value, which must say something.
    #[track_caller]
    pub fn named(name: &str, value: impl Into<i32>) -> i32 {
        let number = value.into();
        if number == 0 { panic!("{name} is unspecified, and must be named") } else { number }
    }
}

#[cfg(test)]
mod tests;
