// Generated from proto/ by scripts/proto: do not edit.

/**
 * Open Face Chinese Poker: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCards } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  OpenFaceChinesePokerAskSchema as AskSchema,
  type OpenFaceChinesePokerEvent as Event,
  OpenFaceChinesePokerEventKind as EventKind,
  type OpenFaceChinesePokerLayout as Layout,
  type OpenFaceChinesePokerMove as Move,
  OpenFaceChinesePokerMoveSchema as MoveSchema,
  OpenFaceChinesePokerPhase as Phase,
  OpenFaceChinesePokerVerb as Verb,
  type OpenFaceChinesePokerView as View,
} from "../gen/cardarena/games/v1/open_face_chinese_poker_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("open_face_chinese_poker");

export type { Event, Layout, Move, View };
export { EventKind, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: put cards into rows. */
  place(front: readonly string[], middle: readonly string[], back: readonly string[]): Move {
    return create(MoveSchema, {
      verb: Verb.PLACE,
      front: checkCards(front),
      middle: checkCards(middle),
      back: checkCards(back),
    });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Open Face Chinese Poker. */
export type Bot = AnyBot<Ask>;

/** A player of Open Face Chinese Poker. The function makes the bot of each match. */
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
  const body = { case: "openFaceChinesePoker", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
