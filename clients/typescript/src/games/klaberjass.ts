// Generated from proto/ by scripts/proto: do not edit.

/**
 * Klaberjass: its messages under short names, constructors of its moves, and a bot with its types.
 *
 * @module
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { checkCard, checkSuit, checkWholeNumber } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  KlaberjassAskSchema as AskSchema,
  type KlaberjassAuction as Auction,
  KlaberjassCall as Call,
  type KlaberjassContest as Contest,
  type KlaberjassEvent as Event,
  KlaberjassEventKind as EventKind,
  type KlaberjassMove as Move,
  KlaberjassMoveSchema as MoveSchema,
  KlaberjassPhase as Phase,
  type KlaberjassSplit as Split,
  KlaberjassVerb as Verb,
  type KlaberjassView as View,
  KlaberjassWord as Word,
} from "../gen/cardarena/games/v1/klaberjass_pb.js";
import type { MatchStartSchema } from "../gen/cardarena/v1/play_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("klaberjass");

export type { Auction, Contest, Event, Move, Split, View };
export { Call, EventKind, Phase, Verb, Word };

/**
 * Constructors of moves. Each takes exactly the fields that its verb uses, and throws a
 * RangeError if an argument is not a card, a suit, a whole number or a value of its enum.
 * They do not check whether the move is legal.
 */
export const moves = {
  /** The move: make the suit of the upcard trump. */
  take(): Move {
    return create(MoveSchema, { verb: Verb.TAKE });
  },
  /** The move: let the other seat bid. */
  pass(): Move {
    return create(MoveSchema, { verb: Verb.PASS });
  },
  /** The move: offer to throw the hand in; if refused, make trump oneself. */
  schmeiss(): Move {
    return create(MoveSchema, { verb: Verb.SCHMEISS });
  },
  /** The move: accept the schmeiss. */
  yes(): Move {
    return create(MoveSchema, { verb: Verb.YES });
  },
  /** The move: refuse the schmeiss. */
  no(): Move {
    return create(MoveSchema, { verb: Verb.NO });
  },
  /** The move: make a suit trump. */
  name(suit: "c" | "d" | "h" | "s"): Move {
    return create(MoveSchema, { verb: Verb.NAME, suit: checkSuit(suit) });
  },
  /** The move: leave the upcard. */
  keep(): Move {
    return create(MoveSchema, { verb: Verb.KEEP });
  },
  /** The move: take the upcard for the seven of trump. */
  exchange(): Move {
    return create(MoveSchema, { verb: Verb.EXCHANGE });
  },
  /** The move: announce no sequence. */
  noMeld(): Move {
    return create(MoveSchema, { verb: Verb.NO_MELD });
  },
  /** The move: announce the best sequence. */
  announce(value: number): Move {
    return create(MoveSchema, { verb: Verb.ANNOUNCE, value: checkWholeNumber("value", value) });
  },
  /** The move: let the announcement stand. */
  good(): Move {
    return create(MoveSchema, { verb: Verb.GOOD });
  },
  /** The move: answer a twenty with a fifty. */
  notGood(): Move {
    return create(MoveSchema, { verb: Verb.NOT_GOOD });
  },
  /** The move: answer with the same value. */
  howHigh(): Move {
    return create(MoveSchema, { verb: Verb.HOW_HIGH });
  },
  /** The move: play a card. */
  play(card: string, bela: boolean): Move {
    return create(MoveSchema, { verb: Verb.PLAY, card: checkCard(card), bela });
  },
};

/** One decision of a seat, with everything that the seat can see. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Klaberjass. */
export type Bot = AnyBot<Ask>;

/** A player of Klaberjass. The function makes the bot of each match. */
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
  const body = { case: "klaberjass", value } as const;
  return sdk.newAsk(games[0] ?? "", body, start);
}
