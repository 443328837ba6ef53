/**
 * Parses and sorts cards.
 *
 * A card is a string of two characters, rank and suit, such as `Td`. A joker is `Jk`. Moves, views
 * and events use the same strings.
 *
 * @module
 */

/** Ranks from low to high, the ace high. */
export const RANKS = "23456789TJQKA";
/** Suits in canonical order: clubs, diamonds, hearts, spades. */
export const SUITS = "cdhs";
/** The joker, which has no rank and no suit. */
export const JOKER = "Jk";

/** A suit's letter. */
export type Suit = "c" | "d" | "h" | "s";

/**
 * Parses cards from a text, with or without spaces: `AsKd` or `As Kd`.
 *
 * @throws RangeError if a part of the text is not a card.
 */
export function parse(text: string): string[] {
  const found = text.replace(/\s+/g, "").match(/..?/gu) ?? [];
  for (const card of found) {
    if (!isCard(card)) {
      throw new RangeError(notACard(card));
    }
  }
  return found;
}

export function notACard(text: unknown): string {
  return `${JSON.stringify(text)} is not a card: write rank and suit, such as Td`;
}

/** Whether a text is a card. */
export function isCard(text: string): boolean {
  return text === JOKER || (text.length === 2 && rank(text) >= 0 && suit(text) >= 0);
}

/** The index of a card's rank in RANKS; -1 for a joker. */
export function rank(card: string): number {
  return card === JOKER || card === "" ? -1 : RANKS.indexOf(card.charAt(0));
}

/** The index of a card's suit in SUITS; -1 for a joker. */
export function suit(card: string): number {
  return card === JOKER || card.length < 2 ? -1 : SUITS.indexOf(card.charAt(1));
}

/** Compares cards by rank, then suit, with the joker last. An argument for `sort`. */
export function compare(one: string, other: string): number {
  return sortKey(one) - sortKey(other);
}

/** The cards, sorted by `compare`. */
export function sorted(cards: readonly string[]): string[] {
  return [...cards].sort(compare);
}

/** The cards of a suit. */
export function ofSuit(cards: readonly string[], letter: Suit): string[] {
  return cards.filter((card) => card !== JOKER && card.charAt(1) === letter);
}

function sortKey(card: string): number {
  return card === JOKER ? RANKS.length * SUITS.length : rank(card) * SUITS.length + suit(card);
}
