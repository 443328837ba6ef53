// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Open Face Chinese Poker: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { cardsOf } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type OpenFaceChinesePokerEvent as Event,
  OpenFaceChinesePokerEventKind as EventKind,
  type OpenFaceChinesePokerLayout as Layout,
  type OpenFaceChinesePokerMove as Move,
  OpenFaceChinesePokerMoveSchema as MoveSchema,
  OpenFaceChinesePokerPhase as Phase,
  OpenFaceChinesePokerVerb as Verb,
  type OpenFaceChinesePokerView as View,
} from "../gen/cardarena/games/v1/open_face_chinese_poker_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("open_face_chinese_poker");

export type { Event, Layout, Move, View };
export { EventKind, Phase, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: put cards into rows. */
  place(front: readonly string[], middle: readonly string[], back: readonly string[]): Move {
    return create(MoveSchema, {
      verb: Verb.PLACE,
      front: cardsOf(front),
      middle: cardsOf(middle),
      back: cardsOf(back),
    });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Open Face Chinese Poker. */
export type Bot = AnyBot<Ask>;

/** A player of Open Face Chinese Poker, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
