// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Abstrac: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aNamed, aWholeNumber } from "../checks.js";
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
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: say who takes first. */
  choose(order: Order): Move {
    return create(MoveSchema, { verb: Verb.CHOOSE, order: aNamed("order", order, Order) });
  },
  /** The move: take cards from the top. */
  take(count: number): Move {
    return create(MoveSchema, { verb: Verb.TAKE, count: aWholeNumber("count", count) });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Abstrac. */
export type Bot = AnyBot<Ask>;

/** A player of Abstrac, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
