// Generated from proto/ by scripts/proto: do not edit.

/**
 * Pineapple: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import { type Bets, betsOf } from "../bets.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  PineappleAction as Action,
  PineappleAskSchema as AskSchema,
  type PineappleChips as Chips,
  type PineappleEvent as Event,
  PineappleEventKind as EventKind,
  type PineappleLine as Line,
  type PineappleMove as Move,
  PineappleMoveSchema as MoveSchema,
  PineapplePhase as Phase,
  PineappleStreet as Street,
  PineappleVerb as Verb,
  type PineappleView as View,
} from "../gen/cardarena/games/v1/pineapple_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("pineapple");

export type { Chips, Event, Line, Move, View };
export { Action, EventKind, Phase, Street, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: give up the hand. Not allowed where checking is free. */
  fold(): Move {
    return create(MoveSchema, { verb: Verb.FOLD });
  },
  /** The move: add nothing, as there is nothing to call. */
  check(): Move {
    return create(MoveSchema, { verb: Verb.CHECK });
  },
  /** The move: match the bet, or go all-in below it. */
  call(): Move {
    return create(MoveSchema, { verb: Verb.CALL });
  },
  /** The move: be the first to put chips in. */
  bet(to: number): Move {
    return create(MoveSchema, { verb: Verb.BET, to: checkWholeNumber("to", to) });
  },
  /** The move: go beyond what is to be matched. */
  raise(to: number): Move {
    return create(MoveSchema, { verb: Verb.RAISE, to: checkWholeNumber("to", to) });
  },
  /** The move: give up one of the own three cards. */
  discard(card: string): Move {
    return create(MoveSchema, { verb: Verb.DISCARD, card: checkCard(card) });
  },
};

/** The range of a bet or raise of the seat to act; undefined if it may not bet. */
export function bets(view: View): Bets | undefined {
  return betsOf(view.minTo, view.maxTo);
}

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Pineapple. */
export type Bot = AnyBot<Ask>;

/** A player of Pineapple. The function makes the bot of each match. */
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
  const body = { case: "pineapple", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
