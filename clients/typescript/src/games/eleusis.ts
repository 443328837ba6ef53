// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Eleusis: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aCard, aNamed, cardsOf } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type EleusisCalls as Calls,
  EleusisEnd as End,
  type EleusisEvent as Event,
  EleusisEventKind as EventKind,
  type EleusisGuesses as Guesses,
  type EleusisLayout as Layout,
  type EleusisMove as Move,
  EleusisMoveSchema as MoveSchema,
  type EleusisOffice as Office,
  EleusisOpinion as Opinion,
  EleusisPhase as Phase,
  EleusisVerb as Verb,
  EleusisVerdict as Verdict,
  type EleusisView as View,
} from "../gen/cardarena/games/v1/eleusis_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("eleusis");

export type { Calls, Event, Guesses, Layout, Move, Office, View };
export { End, EventKind, Opinion, Phase, Verb, Verdict };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: set the rule of the hand. */
  rule(text: string): Move {
    return create(MoveSchema, { verb: Verb.RULE, text });
  },
  /** The move: play cards that follow each other from left to right. */
  play(cards: readonly string[]): Move {
    return create(MoveSchema, { verb: Verb.PLAY, cards: cardsOf(cards) });
  },
  /** The move: say that no card of the hand is right, and show it. */
  noPlay(): Move {
    return create(MoveSchema, { verb: Verb.NO_PLAY });
  },
  /** The move: judge as the prophet. */
  judge(opinion: Opinion, card?: string): Move {
    return create(MoveSchema, {
      verb: Verb.JUDGE,
      opinion: aNamed("opinion", opinion, Opinion),
      ...(card !== undefined && { card: aCard(card) }),
    });
  },
  /** The move: become the prophet. */
  declare(): Move {
    return create(MoveSchema, { verb: Verb.DECLARE });
  },
  /** The move: guess the rule. */
  guess(text: string): Move {
    return create(MoveSchema, { verb: Verb.GUESS, text });
  },
  /** The move: neither declare nor guess. */
  pass(): Move {
    return create(MoveSchema, { verb: Verb.PASS });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Eleusis. */
export type Bot = AnyBot<Ask>;

/** A player of Eleusis, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
