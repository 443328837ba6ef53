// Generated from proto/ by scripts/proto: do not edit.

/**
 * Arlington: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkCards, checkEnum, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type ArlingtonActive as Active,
  ArlingtonAskSchema as AskSchema,
  type ArlingtonEvent as Event,
  ArlingtonEventKind as EventKind,
  type ArlingtonMove as Move,
  ArlingtonMoveSchema as MoveSchema,
  ArlingtonPhase as Phase,
  ArlingtonSpectrum as Spectrum,
  type ArlingtonTable as Table,
  ArlingtonVerb as Verb,
  type ArlingtonView as View,
} from "../gen/cardarena/games/v1/arlington_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("arlington");

export type { Active, Event, Move, Table, View };
export { EventKind, Phase, Spectrum, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: lead a card to a trick. */
  leadCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.LEAD_CARD, card: checkCard(card) });
  },
  /** The move: lead a set. */
  leadSet(cards: readonly string[], spectrum?: Spectrum): Move {
    return create(MoveSchema, {
      verb: Verb.LEAD_SET,
      cards: checkCards(cards),
      ...(spectrum !== undefined && { spectrum: checkEnum("spectrum", spectrum, Spectrum) }),
    });
  },
  /** The move: bury a set on a table, the two of spades with it. */
  playS2(seat: number, index: number): Move {
    return create(MoveSchema, {
      verb: Verb.PLAY_S2,
      seat: checkWholeNumber("seat", seat),
      index: checkWholeNumber("index", index),
    });
  },
  /** The move: add a card of the hand to a set on a table. */
  add(seat: number, index: number, card: string): Move {
    return create(MoveSchema, {
      verb: Verb.ADD,
      seat: checkWholeNumber("seat", seat),
      index: checkWholeNumber("index", index),
      card: checkCard(card),
    });
  },
  /** The move: take a joker of a set on a table for a suit card. */
  takeJoker(seat: number, index: number, card: string): Move {
    return create(MoveSchema, {
      verb: Verb.TAKE_JOKER,
      seat: checkWholeNumber("seat", seat),
      index: checkWholeNumber("index", index),
      card: checkCard(card),
    });
  },
  /** The move: play a card to the trick. */
  playCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY_CARD, card: checkCard(card) });
  },
  /** The move: let the active set be. */
  pass(): Move {
    return create(MoveSchema, { verb: Verb.PASS });
  },
  /** The move: beat the active set with a higher one. */
  overplay(cards: readonly string[]): Move {
    return create(MoveSchema, { verb: Verb.OVERPLAY, cards: checkCards(cards) });
  },
  /** The move: bury the active set with the two of spades and take the lead. */
  kill(): Move {
    return create(MoveSchema, { verb: Verb.KILL });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Arlington. */
export type Bot = AnyBot<Ask>;

/** A player of Arlington. The function makes the bot of each match. */
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
  const body = { case: "arlington", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
