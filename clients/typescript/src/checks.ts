/** What the constructors of moves look at, so that no move is malformed. */
import { isCard, SUITS } from "./cards.js";

const MOST = 0xffff_ffff;

/** The card, if it is one. */
export function aCard(card: string): string {
  if (typeof card !== "string" || !isCard(card)) {
    throw new RangeError(`${JSON.stringify(card)} is no card: rank and suit are wanted, as Td`);
  }
  return card;
}

/** The cards, if all of them are such. */
export function cardsOf(cards: readonly string[]): string[] {
  return cards.map(aCard);
}

/** The suit's letter, if it is one. */
export function aSuit(letter: string): string {
  if (typeof letter !== "string" || letter.length !== 1 || !SUITS.includes(letter)) {
    throw new RangeError(`${JSON.stringify(letter)} is no suit: c, d, h or s is wanted`);
  }
  return letter;
}

/** The number, if the arena can be told it. */
export function aWholeNumber(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MOST) {
    throw new RangeError(`${name} is ${value}: a whole number from 0 is wanted`);
  }
  return value;
}

/** The value of the enum, if it is one and says something. */
export function aNamed<Value extends number>(
  name: string,
  value: Value,
  values: Readonly<Record<string, string | number>>,
): Value {
  if (value === 0 || typeof values[value] !== "string") {
    const wanted = Object.keys(values).filter((key) => typeof values[key] === "number");
    throw new RangeError(`${name} is ${value}: one of ${wanted.slice(1).join(", ")} is wanted`);
  }
  return value;
}
