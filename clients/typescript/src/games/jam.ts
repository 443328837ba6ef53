// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Jam: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aCard, aNamed } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type JamClaim as Claim,
  type JamEvent as Event,
  JamEventKind as EventKind,
  type JamMove as Move,
  JamMoveSchema as MoveSchema,
  JamPhase as Phase,
  JamSource as Source,
  JamVerb as Verb,
  type JamView as View,
} from "../gen/cardarena/games/v1/jam_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("jam");

export type { Claim, Event, Move, View };
export { EventKind, Phase, Source, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: play a card to the trick. */
  play(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: aCard(card) });
  },
  /** The move: draw a card. */
  draw(source: Source): Move {
    return create(MoveSchema, { verb: Verb.DRAW, source: aNamed("source", source, Source) });
  },
  /** The move: put a card on the own discard pile. */
  discard(card: string): Move {
    return create(MoveSchema, { verb: Verb.DISCARD, card: aCard(card) });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Jam. */
export type Bot = AnyBot<Ask>;

/** A player of Jam, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
