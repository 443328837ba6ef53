// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Democracy: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aCard } from "../checks.js";
import { gamesOf } from "../families.js";
import {
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

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("democracy");

export type { Event, Island, Move, SuitPoints, View };
export { EventKind, Phase, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: play a card of the hand. */
  playCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY_CARD, card: aCard(card) });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Democracy. */
export type Bot = AnyBot<Ask>;

/** A player of Democracy, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
