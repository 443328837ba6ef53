// Generated from proto/ by scripts/proto: do not edit.

/**
 * Oklahoma Rummy: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkCards, checkEnum, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  OklahomaRummyAskSchema as AskSchema,
  OklahomaRummyEnd as End,
  type OklahomaRummyEvent as Event,
  OklahomaRummyEventKind as EventKind,
  OklahomaRummyMeldKind as MeldKind,
  type OklahomaRummyMove as Move,
  OklahomaRummyMoveSchema as MoveSchema,
  OklahomaRummyPhase as Phase,
  type OklahomaRummyTable as Table,
  type OklahomaRummyTableMeld as TableMeld,
  OklahomaRummyVerb as Verb,
  type OklahomaRummyView as View,
} from "../gen/cardarena/games/v1/oklahoma_rummy_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("oklahoma_rummy");

export type { Event, Move, Table, TableMeld, View };
export { End, EventKind, MeldKind, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: draw a card from the stock. */
  draw(): Move {
    return create(MoveSchema, { verb: Verb.DRAW });
  },
  /** The move: meld the top discard and two cards of the hand, and take the rest of the pile. */
  takePile(kind: MeldKind, cards: readonly string[]): Move {
    return create(MoveSchema, {
      verb: Verb.TAKE_PILE,
      kind: checkEnum("kind", kind, MeldKind),
      cards: checkCards(cards),
    });
  },
  /** The move: leave the pile where nothing can be drawn, which ends the hand. */
  decline(): Move {
    return create(MoveSchema, { verb: Verb.DECLINE });
  },
  /** The move: put down a meld. */
  meld(kind: MeldKind, cards: readonly string[]): Move {
    return create(MoveSchema, {
      verb: Verb.MELD,
      kind: checkEnum("kind", kind, MeldKind),
      cards: checkCards(cards),
    });
  },
  /** The move: add a card of the hand to a meld of one's own. */
  extend(index: number, card: string, end?: End): Move {
    return create(MoveSchema, {
      verb: Verb.EXTEND,
      index: checkWholeNumber("index", index),
      card: checkCard(card),
      ...(end !== undefined && { end: checkEnum("end", end, End) }),
    });
  },
  /** The move: end the turn with a discard. */
  discard(card: string): Move {
    return create(MoveSchema, { verb: Verb.DISCARD, card: checkCard(card) });
  },
  /** The move: end the turn with nothing but queens of spades in hand. */
  noDiscard(): Move {
    return create(MoveSchema, { verb: Verb.NO_DISCARD });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Oklahoma Rummy. */
export type Bot = AnyBot<Ask>;

/** A player of Oklahoma Rummy. The function makes the bot of each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}

/**
 * An ask for the test of a bot, at seat 0 with a minute of time, unless `start` has other terms.
 * The moves are all legal moves, unless `movesComplete` is false.
 */
export function newAsk(
  ask: MessageInitShape<typeof AskSchema>,
  start: MessageInitShape<typeof MatchStartSchema> = {},
): Ask {
  const value = create(AskSchema, { movesComplete: true, ...ask });
  const body = { case: "oklahomaRummy", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
