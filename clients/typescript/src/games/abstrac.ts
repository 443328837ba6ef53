// Generated from proto/ by scripts/proto: do not edit.

/**
 * Abstrac: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkEnum, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type AbstracEvent as Event,
  AbstracEventKind as EventKind,
  type AbstracMove as Move,
  AbstracMoveSchema as MoveSchema,
  AbstracOrder as Order,
  AbstracPhase as Phase,
  AbstracVerb as Verb,
  type AbstracView as View,
} from "../gen/cardarena/games/v1/abstrac_pb.js";

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
