// Generated from proto/ by scripts/proto: do not edit.

/**
 * Democracy: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  DemocracyAskSchema as AskSchema,
  type DemocracyEvent as Event,
  DemocracyEventKind as EventKind,
  type DemocracyIsland as Island,
  type DemocracyMove as Move,
  DemocracyMoveSchema as MoveSchema,
  DemocracyPhase as Phase,
  type DemocracySuitPoints as SuitPoints,
  DemocracyVerb as Verb,
  type DemocracyView as View,
} from "../gen/cardarena/games/v1/democracy_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("democracy");

export type { Event, Island, Move, SuitPoints, View };
export { EventKind, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: play a card of the hand. */
  playCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY_CARD, card: checkCard(card) });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Democracy. */
export type Bot = AnyBot<Ask>;

/** A player of Democracy. The function makes the bot of each match. */
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
  const body = { case: "democracy", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
