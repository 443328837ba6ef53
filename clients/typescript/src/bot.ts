import { create, equals, type Message, toBinary } from "@bufbuild/protobuf";
import type { AnyAsk, Ask, End, Match } from "./ask.js";
import { GameMoveSchema } from "./gen/cardarena/v1/game_pb.js";
import type { ChosenMove } from "./link.js";

/** The type of the moves of an ask. */
export type MoveOf<A extends AnyAsk> = A["moves"][number];

/** A choice with a note, which only the bot's owner can read. */
export class Noted<Move> {
  constructor(
    readonly choice: number | Move,
    readonly note: string,
  ) {}
}

/** Adds a note to a choice. A note over the arena's limit is truncated. */
export function noted(choice: number, note: string): Noted<never>;
export function noted<Move extends Message>(choice: number | Move, note: string): Noted<Move>;
export function noted<Move extends Message>(choice: number | Move, note: string): Noted<Move> {
  return new Noted(choice, note);
}

/** A bot's answer to an ask: the index of an offered move, from 0, or a move, offered or not. */
export type Choice<Move> = number | Move | Noted<Move>;

/** Plays one match. Each match has a bot of its own, so its fields belong to that match. */
export interface Bot<A extends AnyAsk = Ask> {
  /**
   * Chooses a move.
   *
   * An exception is a fault: the SDK logs it with the ask, answers that the bot failed, and says so
   * in the note. The method can take as long as it likes: the stream has
   * a thread of its own. Other matches wait until the method returns or awaits.
   */
  move(ask: A): Choice<MoveOf<A>> | Promise<Choice<MoveOf<A>>>;
  /** Called once when the match ends, also if the bot missed the end. */
  ended?(end: End): void;
}

/** Chooses the moves of many matches at a time, for example with a neural network. */
export interface BatchBot<A extends AnyAsk = Ask> {
  /** Chooses a move for each ask, in the same order. An exception loses all these moves. */
  moves(asks: readonly A[]): readonly Choice<MoveOf<A>>[] | Promise<readonly Choice<MoveOf<A>>[]>;
  /** Called before the first ask of a match. */
  started?(match: Match): void;
  /** Called after the last ask of a match. */
  ended?(end: End): void;
}

/** Describes a bot to the arena, and how its matches are played. */
export interface Player<A extends AnyAsk = Ask> {
  /** The name of a bot that plays as a guest. */
  readonly name: string;
  /** The bot's version, in any format. The arena records it for bots that connect from outside. */
  readonly version?: string;
  /** The ids of the games that the bot plays. Default: all games that this SDK supports. */
  readonly games?: readonly string[];
  /** The maximum number of matches at a time. Default: 64. */
  readonly maxMatches?: number;
  /** The maximum number of asks that may be open at a time. Default: 64. */
  readonly maxOpenAsks?: number;
  /** Calls the bot also if there is only one legal move. By default the SDK answers these asks. */
  readonly askForced?: boolean;
  /** Requests moves and events in notation as well. */
  readonly wantText?: boolean;
  /** False takes no part in fair deals: the bot adds no entropy and checks no deals. */
  readonly addsEntropy?: boolean;
  /** Makes the bot of a match. */
  readonly bot?: (match: Match) => Bot<A>;
  /** Plays all matches instead of `bot`. */
  readonly batch?: BatchBot<A>;
}

/**
 * The move that a choice stands for, for the test of a bot.
 *
 * @throws RangeError if the arena would not accept it: if the index is out of range, or the move is
 *     not one of all legal moves.
 * @throws TypeError if the choice is neither an index nor a move of the ask's game.
 */
export function chosen<A extends AnyAsk>(ask: A, choice: Choice<MoveOf<A>>): MoveOf<A> {
  const resolved = resolveChoice(ask, choice);
  if ("index" in resolved) {
    return ask.moves[resolved.index];
  }
  const move = choice instanceof Noted ? choice.choice : choice;
  if (ask.movesComplete) {
    throw new RangeError(`the move is not legal: ${JSON.stringify(move)}`);
  }
  return move as MoveOf<A>;
}

/**
 * The choice as the stream thread gets it.
 *
 * @throws RangeError if the index is out of range.
 * @throws TypeError if the choice is neither an index nor a move of the ask's game.
 */
export function resolveChoice(ask: AnyAsk, choice: unknown): ChosenMove {
  if (choice instanceof Noted) {
    return { ...resolveChoice(ask, choice.choice), note: String(choice.note) };
  }
  if (typeof choice === "number") {
    if (!Number.isInteger(choice) || choice < 0 || choice >= ask.moves.length) {
      const offered = ask.moves.length;
      throw new RangeError(`move index ${choice} is out of range: ${offered} moves are offered`);
    }
    return { askId: ask.id, index: choice, note: "" };
  }
  if (typeof choice !== "object" || choice === null || !("$typeName" in choice)) {
    throw new TypeError(
      `${String(choice)} is not a choice: return a move of ask.moves, its index, or another move`,
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
    throw new TypeError(`a ${move.$typeName.split(".").at(-1)} is not a move of ${ask.match.game}`);
  }
  const index = ask.moves.findIndex((offered: Message) => equals(schema, offered, move));
  if (index >= 0) {
    return { index };
  }
  const game = { case: family, value: move } as never;
  return { move: toBinary(GameMoveSchema, create(GameMoveSchema, { game })) };
}

/** The choice if the bot failed: no move, with the error as its note. */
export function failedChoice(askId: bigint, error: unknown): ChosenMove {
  const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { askId, failed: true, note: `error: ${why}` };
}
