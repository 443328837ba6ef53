/**
 * Reads and sorts cards. A card is a text of two characters, rank and suit, as `Td`; a joker is
 * `Jk`. So they come from the arena, and so they go back.
 *
 * @module
 */

/** Ranks from low to high, the ace high. */
export const RANKS = "23456789TJQKA";
/** Suits in canonical order: clubs, diamonds, hearts, spades. */
export const SUITS = "cdhs";
/** The card that has neither. */
export const JOKER = "Jk";

/** A suit's letter. */
export type Suit = "c" | "d" | "h" | "s";

/**
 * Reads cards from text, with or without spaces: `AsKd` or `As Kd`.
 *
 * @throws RangeError if a part of it is no card.
 */
export function parse(text: string): string[] {
  const found = text.replace(/\s+/g, "").match(/..?/gu) ?? [];
  for (const card of found) {
    if (!isCard(card)) {
      throw new RangeError(`${JSON.stringify(card)} is no card: rank and suit are wanted, as Td`);
    }
  }
  return found;
}

/** Whether a text is a card. */
export function isCard(text: string): boolean {
  return text === JOKER || (text.length === 2 && rank(text) >= 0 && suit(text) >= 0);
}

/** The place of a card's rank in RANKS; -1 for a joker. */
export function rank(card: string): number {
  return card === JOKER || card === "" ? -1 : RANKS.indexOf(card.charAt(0));
}

/** The place of a card's suit in SUITS; -1 for a joker. */
export function suit(card: string): number {
  return card === JOKER || card.length < 2 ? -1 : SUITS.indexOf(card.charAt(1));
}

/** Orders cards by rank, then suit, the joker last: for `sort`. */
export function compare(one: string, other: string): number {
  return place(one) - place(other);
}

/** The cards in order, by `compare`. */
export function sorted(cards: readonly string[]): string[] {
  return [...cards].sort(compare);
}

/** The cards of a suit. */
export function ofSuit(cards: readonly string[], letter: Suit): string[] {
  return cards.filter((card) => card !== JOKER && card.charAt(1) === letter);
}

function place(card: string): number {
  return card === JOKER ? RANKS.length * SUITS.length : rank(card) * SUITS.length + suit(card);
}
