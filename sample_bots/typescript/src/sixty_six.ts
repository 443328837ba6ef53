// Plays Sixty-Six: it takes tricks that are worth many points, discards cheap cards, and counts its
// points.
//
// It exchanges and declares marriages whenever it can. It claims as soon as it has 66 points, and not
// before. It does not close the stock.
import { run } from "cardarena";
import { type Ask, type Move, player, Verb, type View } from "cardarena/sixty_six";

const RANKS = "9JQKTA"; // from low to high
const POINTS = new Map([...RANKS].map((rank, place) => [rank, [0, 2, 3, 4, 10, 11][place] ?? 0]));
const GOAL = 66;
// Trumps, and kings and queens that can still form a marriage, are worth more than their points.
const TRUMP = 5;
const MARRIAGE = 8;

const rank = (card: string) => RANKS.indexOf(card.charAt(0));
const points = (card: string) => POINTS.get(card.charAt(0)) ?? 0;
const suit = (card: string) => card.charAt(1);

function least(moves: readonly Move[], cost: (card: string) => number): Move {
  return moves.reduce((best, move) => (cost(move.card) < cost(best.card) ? move : best));
}

class Table {
  constructor(
    readonly view: View,
    readonly seat: number,
  ) {}

  isTrump(card: string): boolean {
    return suit(card) === this.view.trump;
  }

  /** Whether an unseen card could beat this one. */
  mayBeBeaten(card: string): boolean {
    const seen = new Set([...this.view.held, ...this.view.played.flatMap((heap) => heap.cards)]);
    const higher = [...RANKS.slice(rank(card) + 1)].map((each) => each + suit(card));
    const trumps = this.isTrump(card) ? [] : [...RANKS].map((each) => each + this.view.trump);
    return [...higher, ...trumps].some((each) => !seen.has(each));
  }

  breaksMarriage(card: string): boolean {
    const partner = { K: "Q", Q: "K" }[card.charAt(0)];
    const open = this.view.declared === undefined;
    return open && partner !== undefined && this.view.held.includes(partner + suit(card));
  }

  keep(card: string): number {
    return (this.isTrump(card) ? TRUMP : 0) + (this.breaksMarriage(card) ? MARRIAGE : 0);
  }

  costOfLead(card: string): number {
    if (this.view.strict && !this.mayBeBeaten(card)) {
      return -points(card);
    }
    return points(card) + this.keep(card);
  }

  costOfReply(led: string, card: string): number {
    const wins = suit(card) === suit(led) ? rank(card) > rank(led) : this.isTrump(card);
    if (!wins) {
      return points(card) + this.keep(card);
    }
    return this.keep(card) - points(led) - (this.isTrump(card) ? 0 : points(card));
  }
}

function move(ask: Ask): Move {
  const { view, moves } = ask;
  const table = new Table(view, ask.match.seat);
  const first = (verb: Verb) => moves.find((each) => each.verb === verb);
  const claim = first(Verb.CLAIM);
  if (claim && (view.points[table.seat] ?? 0) >= GOAL) {
    return claim;
  }
  const plays = moves.filter((each) => each.verb === Verb.PLAY);
  const { led } = view;
  if (led !== undefined) {
    return least(plays, (card) => table.costOfReply(led, card));
  }
  const royal = moves.find((each) => each.verb === Verb.MARRIAGE && each.suit === view.trump);
  const early = first(Verb.EXCHANGE) ?? royal ?? first(Verb.MARRIAGE);
  return early ?? least(plays, (card) => table.costOfLead(card));
}

await run(player("sixty_six", () => ({ move })));
