// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Loo: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aCard, cardsOf } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  LooEnding as Ending,
  type LooEvent as Event,
  LooEventKind as EventKind,
  type LooMove as Move,
  LooMoveSchema as MoveSchema,
  LooPhase as Phase,
  LooVerb as Verb,
  type LooView as View,
} from "../gen/cardarena/games/v1/loo_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("loo");

export type { Event, Move, View };
export { Ending, EventKind, Phase, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
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
    return create(MoveSchema, { verb: Verb.EXCHANGE, cards: cardsOf(cards) });
  },
  /** The move: play a card. */
  play(card: string, civil: boolean): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: aCard(card), civil });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Loo. */
export type Bot = AnyBot<Ask>;

/** A player of Loo, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
