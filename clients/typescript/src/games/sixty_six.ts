// Generated from proto/ by scripts/proto: do not edit.

/**
 * Sixty Six: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkSuit } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  SixtySixAskSchema as AskSchema,
  type SixtySixEvent as Event,
  SixtySixEventKind as EventKind,
  type SixtySixMove as Move,
  SixtySixMoveSchema as MoveSchema,
  SixtySixPhase as Phase,
  SixtySixReason as Reason,
  SixtySixVerb as Verb,
  type SixtySixView as View,
} from "../gen/cardarena/games/v1/sixty_six_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("sixty_six");

export type { Event, Move, View };
export { EventKind, Phase, Reason, Verb };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: say that the own points are 66 or more, which ends the hand. */
  claim(): Move {
    return create(MoveSchema, { verb: Verb.CLAIM });
  },
  /** The move: close the stock. */
  close(): Move {
    return create(MoveSchema, { verb: Verb.CLOSE });
  },
  /** The move: take the upcard for the nine of trump. */
  exchange(): Move {
    return create(MoveSchema, { verb: Verb.EXCHANGE });
  },
  /** The move: show king and queen of a suit before leading one of them. */
  marriage(suit: "c" | "d" | "h" | "s"): Move {
    return create(MoveSchema, { verb: Verb.MARRIAGE, suit: checkSuit(suit) });
  },
  /** The move: play a card. */
  play(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: checkCard(card) });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Sixty Six. */
export type Bot = AnyBot<Ask>;

/** A player of Sixty Six. The function makes the bot of each match. */
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
  const body = { case: "sixtySix", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
