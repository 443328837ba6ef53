// Generated from proto/ by scripts/proto: do not edit.

/**
 * Abstrac: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkEnum, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  AbstracAskSchema as AskSchema,
  type AbstracEvent as Event,
  AbstracEventKind as EventKind,
  type AbstracMove as Move,
  AbstracMoveSchema as MoveSchema,
  AbstracOrder as Order,
  AbstracPhase as Phase,
  AbstracVerb as Verb,
  type AbstracView as View,
} from "../gen/cardarena/games/v1/abstrac_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("abstrac");

export type { Event, Move, View };
export { EventKind, Order, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: say who takes first. */
  choose(order: Order): Move {
    return create(MoveSchema, { verb: Verb.CHOOSE, order: checkEnum("order", order, Order) });
  },
  /** The move: take cards from the top. */
  take(count: number): Move {
    return create(MoveSchema, { verb: Verb.TAKE, count: checkWholeNumber("count", count) });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Abstrac. */
export type Bot = AnyBot<Ask>;

/** A player of Abstrac. The function makes the bot of each match. */
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
  const body = { case: "abstrac", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
