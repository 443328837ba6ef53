// Generated from proto/ by scripts/proto: do not edit.

/**
 * Jam: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkEnum } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  JamAskSchema as AskSchema,
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
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("jam");

export type { Claim, Event, Move, View };
export { EventKind, Phase, Source, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: play a card to the trick. */
  play(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: checkCard(card) });
  },
  /** The move: draw a card. */
  draw(source: Source): Move {
    return create(MoveSchema, { verb: Verb.DRAW, source: checkEnum("source", source, Source) });
  },
  /** The move: put a card on the own discard pile. */
  discard(card: string): Move {
    return create(MoveSchema, { verb: Verb.DISCARD, card: checkCard(card) });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Jam. */
export type Bot = AnyBot<Ask>;

/** A player of Jam. The function makes the bot of each match. */
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
  const body = { case: "jam", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
