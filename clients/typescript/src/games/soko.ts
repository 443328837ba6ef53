// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Soko: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import { type Bets, betsOf } from "../bets.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  SokoAction as Action,
  type SokoChips as Chips,
  type SokoEvent as Event,
  SokoEventKind as EventKind,
  type SokoLine as Line,
  type SokoMove as Move,
  SokoMoveSchema as MoveSchema,
  SokoPhase as Phase,
  SokoVerb as Verb,
  type SokoView as View,
} from "../gen/cardarena/games/v1/soko_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("soko");

export type { Chips, Event, Line, Move, View };
export { Action, EventKind, Phase, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: open the first round. */
  bringIn(to: number): Move {
    return create(MoveSchema, { verb: Verb.BRING_IN, to: aWholeNumber("to", to) });
  },
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
    return create(MoveSchema, { verb: Verb.BET, to: aWholeNumber("to", to) });
  },
  /** The move: go beyond what is to be matched. */
  raise(to: number): Move {
    return create(MoveSchema, { verb: Verb.RAISE, to: aWholeNumber("to", to) });
  },
};

/** What a bet or raise of the seat to act may come to; nothing if it may make none. */
export function bets(view: View): Bets | undefined {
  return betsOf(view.minTo, view.maxTo);
}

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Soko. */
export type Bot = AnyBot<Ask>;

/** A player of Soko, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
