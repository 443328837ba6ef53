/** Checks of the arguments of moves' constructors. */
import { isCard, notACard, SUITS } from "./cards.js";

const MAX_UINT32 = 0xffff_ffff;

/** Returns the card, or throws a RangeError if the text is not one. */
export function checkCard(card: string): string {
  if (typeof card !== "string" || !isCard(card)) {
    throw new RangeError(notACard(card));
  }
  return card;
}

/** Returns the cards, or throws a RangeError if one of the texts is not a card. */
export function checkCards(cards: readonly string[]): string[] {
  return cards.map(checkCard);
}

/** Returns the suit's letter, or throws a RangeError if the text is not one. */
export function checkSuit(letter: string): string {
  if (typeof letter !== "string" || letter.length !== 1 || !SUITS.includes(letter)) {
    throw new RangeError(`${JSON.stringify(letter)} is not a suit: write c, d, h or s`);
  }
  return letter;
}

/**
 * Returns the number, or throws a RangeError if it is not a whole number that a message can hold.
 */
export function checkWholeNumber(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_UINT32) {
    throw new RangeError(`${name} is ${value}: write a whole number from 0 to ${MAX_UINT32}`);
  }
  return value;
}

/** Returns the value of an enum, or throws a RangeError if it is unspecified or unknown. */
export function checkEnum<Value extends number>(
  name: string,
  value: Value,
  values: Readonly<Record<string, string | number>>,
): Value {
  if (value === 0 || typeof values[value] !== "string") {
    const names = Object.keys(values).filter((key) => typeof values[key] === "number");
    throw new RangeError(`${name} is ${value}: write one of ${names.slice(1).join(", ")}`);
  }
  return value;
}
