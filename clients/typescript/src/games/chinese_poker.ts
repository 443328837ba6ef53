// Generated from proto/ by scripts/proto: do not edit.

/**
 * Chinese Poker: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCards } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  ChinesePokerAskSchema as AskSchema,
  type ChinesePokerEvent as Event,
  ChinesePokerEventKind as EventKind,
  type ChinesePokerMove as Move,
  ChinesePokerMoveSchema as MoveSchema,
  ChinesePokerNatural as Natural,
  ChinesePokerPhase as Phase,
  type ChinesePokerRows as Rows,
  type ChinesePokerShownNatural as ShownNatural,
  ChinesePokerVerb as Verb,
  type ChinesePokerView as View,
} from "../gen/cardarena/games/v1/chinese_poker_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("chinese_poker");

export type { Event, Move, Rows, ShownNatural, View };
export { EventKind, Natural, Phase, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: set the cards. */
  set(front: readonly string[], middle: readonly string[], back: readonly string[]): Move {
    return create(MoveSchema, {
      verb: Verb.SET,
      front: checkCards(front),
      middle: checkCards(middle),
      back: checkCards(back),
    });
  },
  /** The move: show the highest natural of the hand instead. */
  declareNatural(): Move {
    return create(MoveSchema, { verb: Verb.DECLARE_NATURAL });
  },
  /** The move: stand by the setting. */
  play(): Move {
    return create(MoveSchema, { verb: Verb.PLAY });
  },
  /** The move: give up for two units to each opponent without a natural. */
  surrender(): Move {
    return create(MoveSchema, { verb: Verb.SURRENDER });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Chinese Poker. */
export type Bot = AnyBot<Ask>;

/** A player of Chinese Poker. The function makes the bot of each match. */
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
  const body = { case: "chinesePoker", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
