// Written by protoc-gen-cardarena. Not to be edited: scripts/proto.

/**
 * Arlington: its messages under short names, constructors of its moves, and a bot of its types.
 *
 * @module
 */
import { create } from "@bufbuild/protobuf";
import type * as sdk from "../ask.js";
import type { Bot as AnyBot, Player } from "../bot.js";
import { aCard, aNamed, aWholeNumber, cardsOf } from "../checks.js";
import { gamesOf } from "../families.js";
import {
  type ArlingtonActive as Active,
  type ArlingtonEvent as Event,
  ArlingtonEventKind as EventKind,
  type ArlingtonMove as Move,
  ArlingtonMoveSchema as MoveSchema,
  ArlingtonPhase as Phase,
  ArlingtonSpectrum as Spectrum,
  type ArlingtonTable as Table,
  ArlingtonVerb as Verb,
  type ArlingtonView as View,
} from "../gen/cardarena/games/v1/arlington_pb.js";

/** The ids of the family's games. */
export const games: readonly string[] = gamesOf("arlington");

export type { Active, Event, Move, Table, View };
export { EventKind, Phase, Spectrum, Verb };

/**
 * Makes moves that are whole: each with the fields that its verb uses, and no others.
 * What is no card, no suit, no whole number or no value of its enum is a RangeError. Whether
 * a move is legal now, the rules say.
 */
export const moves = {
  /** The move: lead a card to a trick. */
  leadCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.LEAD_CARD, card: aCard(card) });
  },
  /** The move: lead a set. */
  leadSet(cards: readonly string[], spectrum?: Spectrum): Move {
    return create(MoveSchema, {
      verb: Verb.LEAD_SET,
      cards: cardsOf(cards),
      ...(spectrum !== undefined && { spectrum: aNamed("spectrum", spectrum, Spectrum) }),
    });
  },
  /** The move: bury a set on a table, the two of spades with it. */
  playS2(seat: number, index: number): Move {
    return create(MoveSchema, {
      verb: Verb.PLAY_S2,
      seat: aWholeNumber("seat", seat),
      index: aWholeNumber("index", index),
    });
  },
  /** The move: add a card of the hand to a set on a table. */
  add(seat: number, index: number, card: string): Move {
    return create(MoveSchema, {
      verb: Verb.ADD,
      seat: aWholeNumber("seat", seat),
      index: aWholeNumber("index", index),
      card: aCard(card),
    });
  },
  /** The move: take a joker of a set on a table for a suit card. */
  takeJoker(seat: number, index: number, card: string): Move {
    return create(MoveSchema, {
      verb: Verb.TAKE_JOKER,
      seat: aWholeNumber("seat", seat),
      index: aWholeNumber("index", index),
      card: aCard(card),
    });
  },
  /** The move: play a card to the trick. */
  playCard(card: string): Move {
    return create(MoveSchema, { verb: Verb.PLAY_CARD, card: aCard(card) });
  },
  /** The move: let the active set be. */
  pass(): Move {
    return create(MoveSchema, { verb: Verb.PASS });
  },
  /** The move: beat the active set with a higher one. */
  overplay(cards: readonly string[]): Move {
    return create(MoveSchema, { verb: Verb.OVERPLAY, cards: cardsOf(cards) });
  },
  /** The move: bury the active set with the two of spades and take the lead. */
  kill(): Move {
    return create(MoveSchema, { verb: Verb.KILL });
  },
};

/** One decision of a seat, with everything that the seat may know. */
export type Ask = sdk.Ask<View, Move, Event>;

/** Plays one match of Arlington. */
export type Bot = AnyBot<Ask>;

/** A player of Arlington, of what makes a bot for each match. */
export function player(name: string, bot: (match: sdk.Match) => Bot): Player<Ask> {
  return { name, games, bot };
}
