// Generated from proto/ by scripts/proto: do not edit.

/**
 * Loo: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkCards } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  LooAskSchema as AskSchema,
  LooEnding as Ending,
  type LooEvent as Event,
  LooEventKind as EventKind,
  type LooMove as Move,
  LooMoveSchema as MoveSchema,
  LooPhase as Phase,
  LooVerb as Verb,
  type LooView as View,
} from "../gen/cardarena/games/v1/loo_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("loo");

export type { Event, Move, View };
export { Ending, EventKind, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: play the hand. */
  playHand(): Move {
    return create(MoveSchema, { verb: Verb.PLAY_HAND });
  },
  /** The move: stay out of the hand. */
  pass(): Move {
    return create(MoveSchema, { verb: Verb.PASS });
  },
  /** The move: show a flush, which ends the hand. */
  revealFlush(): Move {
    return create(MoveSchema, { verb: Verb.REVEAL_FLUSH });
  },
  /** The move: show nothing. */
  hold(): Move {
    return create(MoveSchema, { verb: Verb.HOLD });
  },
  /** The move: exchange cards. */
  exchange(cards: readonly string[]): Move {
    return create(MoveSchema, { verb: Verb.EXCHANGE, cards: checkCards(cards) });
  },
  /** The move: play a card. */
  play(card: string, civil: boolean): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: checkCard(card), civil });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Loo. */
export type Bot = AnyBot<Ask>;

/** A player of Loo. The function makes the bot of each match. */
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
  const body = { case: "loo", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
