// Generated from proto/ by scripts/proto: do not edit.

/**
 * Eleusis: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkCards, checkEnum } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  EleusisAskSchema as AskSchema,
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
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("eleusis");

export type { Calls, Event, Guesses, Layout, Move, Office, View };
export { End, EventKind, Opinion, Phase, Verb, Verdict };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: set the rule of the hand. */
  rule(text: string): Move {
    return create(MoveSchema, { verb: Verb.RULE, text });
  },
  /** The move: play cards that follow each other from left to right. */
  play(cards: readonly string[]): Move {
    return create(MoveSchema, { verb: Verb.PLAY, cards: checkCards(cards) });
  },
  /** The move: say that no card of the hand is right, and show it. */
  noPlay(): Move {
    return create(MoveSchema, { verb: Verb.NO_PLAY });
  },
  /** The move: judge as the prophet. */
  judge(opinion: Opinion, card?: string): Move {
    return create(MoveSchema, {
      verb: Verb.JUDGE,
      opinion: checkEnum("opinion", opinion, Opinion),
      ...(card !== undefined && { card: checkCard(card) }),
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

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Eleusis. */
export type Bot = AnyBot<Ask>;

/** A player of Eleusis. The function makes the bot of each match. */
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
  const body = { case: "eleusis", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
