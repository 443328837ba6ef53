import { create, equals, type Message, toBinary } from "@bufbuild/protobuf";
import type { AnyAsk, Ask, End, Match } from "./ask.js";
import { GameMoveSchema } from "./gen/cardarena/v1/game_pb.js";
import type { ChosenMove } from "./link.js";

/** The moves of an ask's game. */
export type MoveOf<A extends AnyAsk> = A["moves"][number];

/** A choice with a note, which the bot's owner alone is shown. */
export class Noted<Move> {
  constructor(
    readonly choice: number | Move,
    readonly note: string,
  ) {}
}

/** Adds a note to a choice; one that is too long is cut. */
export function noted(choice: number, note: string): Noted<never>;
export function noted<Move extends Message>(choice: number | Move, note: string): Noted<Move>;
export function noted<Move extends Message>(choice: number | Move, note: string): Noted<Move> {
  return new Noted(choice, note);
}

/** What a bot does: one of the offered moves by its place from 0, or a move, offered or not. */
export type Choice<Move> = number | Move | Noted<Move>;

/** Plays one match: there is one for each, so that what it keeps is that match's. */
export interface Bot<A extends AnyAsk = Ask> {
  /**
   * Chooses a move. An exception costs the move and not the match: it is logged, the first move
   * offered is played, and a note says so. It may think as long as it likes without holding up
   * the stream, which has a thread of its own; other matches wait until it returns or awaits.
   */
  move(ask: A): Choice<MoveOf<A>> | Promise<Choice<MoveOf<A>>>;
  /** Is told the end of the match, once, also if it was missed. */
  ended?(end: End): void;
}

/** Decides the moves of many matches at a time, as with a neural network. */
export interface BatchBot<A extends AnyAsk = Ask> {
  /** Chooses a move for each ask, in the same order. An exception costs them all. */
  moves(asks: readonly A[]): readonly Choice<MoveOf<A>>[] | Promise<readonly Choice<MoveOf<A>>[]>;
  /** Is called before the first ask of a match. */
  started?(match: Match): void;
  /** Is called after the last ask of a match. */
  ended?(end: End): void;
}

/** What a bot says of itself when it connects, and how its matches are played. */
export interface Player<A extends AnyAsk = Ask> {
  /** Said by a guest, and in logs. */
  readonly name: string;
  /** Which version of itself it is, in your own words; an arena notes it of remote bots. */
  readonly version?: string;
  /** The games that it plays, by id; all that this SDK knows if left out. */
  readonly games?: readonly string[];
  /** Matches at a time; 64 if left out. */
  readonly maxMatches?: number;
  /** Asks that may be open at a time; 64 if left out. */
  readonly maxOpenAsks?: number;
  /** Gives the bot also asks with a single legal move, which else are answered at once. */
  readonly askForced?: boolean;
  /** Asks for moves and events in notation as well. */
  readonly wantText?: boolean;
  /** False leaves fair deals alone. To take part costs nothing to speak of. */
  readonly addsEntropy?: boolean;
  /** Makes the bot of a match. */
  readonly bot?: (match: Match) => Bot<A>;
  /** Plays all matches instead of `bot`. */
  readonly batch?: BatchBot<A>;
}

/**
 * What a choice stands for.
 *
 * @throws RangeError if it is an index past the offered moves.
 * @throws TypeError if it is no move of the ask's game, and no index.
 */
export function chosen(ask: AnyAsk, choice: unknown): ChosenMove {
  if (choice instanceof Noted) {
    return { ...chosen(ask, choice.choice), note: String(choice.note) };
  }
  if (typeof choice === "number") {
    if (!Number.isInteger(choice) || choice < 0 || choice >= ask.moves.length) {
      throw new RangeError(`there is no move ${choice}: ${ask.moves.length} are offered, from 0`);
    }
    return { askId: ask.id, index: choice, note: "" };
  }
  if (typeof choice !== "object" || choice === null || !("$typeName" in choice)) {
    throw new TypeError(
      `${String(choice)} is no choice: one of ask.moves, its index, or a move is wanted`,
    );
  }
  return { askId: ask.id, ...whichMove(ask, choice as Message), note: "" };
}

const MOVES = new Map(
  GameMoveSchema.oneofs[0]?.fields.map((field) => [field.localName, field.message]),
);

function whichMove(ask: AnyAsk, move: Message): { index: number } | { move: Uint8Array } {
  const same = ask.moves.indexOf(move);
  if (same >= 0) {
    return { index: same };
  }
  const family = ask.message.game.case;
  const schema = MOVES.get(family ?? "");
  if (!family || !schema || move.$typeName !== schema.typeName) {
    throw new TypeError(`a ${move.$typeName.split(".").at(-1)} is no move of ${ask.match.game}`);
  }
  const index = ask.moves.findIndex((offered: Message) => equals(schema, offered, move));
  if (index >= 0) {
    return { index };
  }
  const game = { case: family, value: move } as never;
  return { move: toBinary(GameMoveSchema, create(GameMoveSchema, { game })) };
}

/** What is played where the author's code failed. */
export function failed(askId: bigint, error: unknown): ChosenMove {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { askId, index: 0, note: `error: ${words}` };
}
