//! Parses and sorts cards.
//!
//! A card is a string of two characters, rank and suit, such as `Td`. A joker is `Jk`. Moves, views
//! and events use the same strings.

use std::fmt;

/// Ranks from low to high, the ace high.
pub const RANKS: &str = "23456789TJQKA";
/// Suits in canonical order: clubs, diamonds, hearts, spades.
pub const SUITS: &str = "cdhs";
/// The joker, which has no rank and no suit.
pub const JOKER: &str = "Jk";

/// The error of a text that is not a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCard(String);

impl fmt::Display for InvalidCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a card: write rank and suit, such as Td", self.0)
    }
}

impl std::error::Error for InvalidCard {}

/// Parses cards from a text, with or without spaces: `AsKd` or `As Kd`.
///
/// # Errors
///
/// If a part of the text is not a card.
///
/// # Examples
///
/// ```
/// # use cardarena::cards;
/// let mut hand = cards::parse("Jk As2d 2c")?;
/// cards::sort(&mut hand);
/// assert_eq!(hand, ["2c", "2d", "As", "Jk"]);
/// # Ok::<(), cards::InvalidCard>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<String>, InvalidCard> {
    let letters: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let cards = letters.chunks(2).map(|pair| pair.iter().collect::<String>());
    cards.map(|card| if is_card(&card) { Ok(card) } else { Err(InvalidCard(card)) }).collect()
}

/// Whether a text is a card.
pub fn is_card(text: &str) -> bool {
    text == JOKER || text.len() == 2 && rank(text).is_some() && suit(text).is_some()
}

/// The index of a card's rank in [`RANKS`]. None for a joker.
pub fn rank(card: &str) -> Option<usize> {
    if card == JOKER { None } else { RANKS.find(card.chars().next()?) }
}

/// The index of a card's suit in [`SUITS`]. None for a joker.
pub fn suit(card: &str) -> Option<usize> {
    if card == JOKER { None } else { SUITS.find(card.chars().nth(1)?) }
}

/// The sort key of a card: by rank, then suit, with the joker last.
pub fn sort_key(card: &str) -> usize {
    let joker = RANKS.len() * SUITS.len();
    rank(card).zip(suit(card)).map_or(joker, |(rank, suit)| rank * SUITS.len() + suit)
}

/// Sorts cards in place, by [`sort_key`].
pub fn sort<C: AsRef<str>>(cards: &mut [C]) {
    cards.sort_by_key(|card| sort_key(card.as_ref()));
}

/// Counts the cards of a suit, which is one of the letters of [`SUITS`].
pub fn count<C: AsRef<str>>(cards: &[C], of: char) -> usize {
    let wanted = SUITS.find(of);
    cards.iter().filter(|card| wanted.is_some() && suit(card.as_ref()) == wanted).count()
}

/// Checks the arguments of moves' constructors. An invalid argument is a mistake in the caller, so
/// the functions panic with the caller's location.
pub(crate) mod checked {
    use super::{InvalidCard, SUITS, is_card};

    #[track_caller]
    pub fn card(text: impl Into<String>) -> String {
        let text = text.into();
        if is_card(&text) { text } else { panic!("{}", InvalidCard(text)) }
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
        if known { text } else { panic!("{text:?} is not a suit: write c, d, h or s") }
    }

    /// The number of an enum's value, which must not be unspecified.
    #[track_caller]
    pub fn specified(name: &str, value: impl Into<i32>) -> i32 {
        let number = value.into();
        if number == 0 { panic!("{name} must not be unspecified") } else { number }
    }
}

#[cfg(test)]
mod tests;
