import { create, fromBinary, type Message } from "@bufbuild/protobuf";
import { Ending, type GameEvent } from "./gen/cardarena/v1/game_pb.js";
import {
  type Ask as AskMessage,
  AskSchema,
  type MatchEnd,
  type MatchStart,
  type PlayedFor,
} from "./gen/cardarena/v1/play_pb.js";
import { nowMs } from "./time.js";

/** A match as the arena announced it. */
export class Match {
  constructor(
    /** The arena's own message. */
    readonly start: MatchStart,
  ) {}

  /** The arena's number of this seat at the match. */
  get number(): number {
    return this.start.match;
  }

  /** The game's id, as `jam`. */
  get game(): string {
    return this.start.terms?.game ?? "";
  }

  /** The bot's own seat, from 0. */
  get seat(): number {
    return this.start.seat;
  }

  /** An option of the game; undefined if there is none of the name. */
  option(name: string): number | string | boolean | undefined {
    const value = this.start.terms?.options.find((setting) => setting.name === name)?.value;
    return typeof value?.value === "bigint" ? Number(value.value) : value?.value;
  }
}

/** What came with asks that the bot was never given. */
export interface Told {
  readonly events: readonly Message[];
  readonly texts: readonly string[];
  readonly playedFor: readonly PlayedFor[];
}

/** What the ask of every family has. */
interface Body {
  readonly view?: Message;
  readonly moves: readonly Message[];
  readonly events: readonly Message[];
  readonly movesComplete: boolean;
}

/** The families' asks, by the name of their field in oneof game. */
const BODIES = new Map(AskSchema.oneofs[0]?.fields.map((field) => [field.localName, field]));

/** One decision of one seat, with everything that the seat may know. */
export class Ask<
  View extends Message = Message,
  Move extends Message = Message,
  Event extends Message = Message,
> {
  readonly #bytes: Uint8Array;
  readonly #before: Told | undefined;
  readonly #cameMs: number;
  #controller = new AbortController();
  #message: AskMessage | undefined;
  #told: Told | undefined;

  /** Of an ask as it came on the wire, when it came, and what was told before and not given. */
  constructor(
    bytes: Uint8Array,
    /** The match that it belongs to. */
    readonly match: Match,
    before: Told | undefined,
    cameMs: number,
  ) {
    this.#bytes = bytes;
    this.#before = before;
    this.#cameMs = cameMs;
  }

  /** The arena's own message. */
  get message(): AskMessage {
    this.#message ??= fromBinary(AskSchema, this.#bytes);
    return this.#message;
  }

  /** The arena's number of this ask. */
  get id(): bigint {
    return this.message.askId;
  }

  /** What the seat sees now. */
  get view(): View {
    const view = this.#body.view ?? this.#emptyView();
    return view as View;
  }

  /** Legal moves, never none; all of them if `movesComplete`. */
  get moves(): readonly Move[] {
    return this.#body.moves as readonly Move[];
  }

  /** Whether the rules allow no other moves than those offered. */
  get movesComplete(): boolean {
    return this.#body.movesComplete;
  }

  /** The moves in notation, if the player has `wantText`. */
  get moveTexts(): readonly string[] {
    return this.message.moveTexts;
  }

  /**
   * What happened since the bot was last given an ask of this match, oldest first. Events of asks
   * that the bot never saw are among them.
   */
  get events(): readonly Event[] {
    return this.told.events as readonly Event[];
  }

  /** The events in notation, if the player has `wantText`. */
  get eventTexts(): readonly string[] {
    return this.told.texts;
  }

  /** Moves among the events that the arena played for a bot at fault. */
  get playedFor(): readonly PlayedFor[] {
    return this.told.playedFor;
  }

  /**
   * What is left of the move's time and the bank since the ask came, in milliseconds. The way to
   * the arena is not in it: `message.clock` tells how long that and the thinking took last time.
   */
  get timeLeftMs(): number {
    const clock = this.message.clock;
    const budgetMs = (clock?.moveMs ?? 0) + (clock?.bankMs ?? 0);
    return Math.max(0, this.#cameMs + budgetMs - nowMs());
  }

  /** Aborted when the answer is no longer wanted. It tells a bot that awaits, between its awaits. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The SDK's: nobody wants the answer any more. */
  abort(): void {
    this.#controller.abort();
  }

  /** The SDK's: it is wanted again, by who has not begun to answer it. */
  renew(): void {
    if (this.signal.aborted) {
      this.#controller = new AbortController();
    }
  }

  /** All that this ask tells, with what was told before it and not given to the bot. */
  get told(): Told {
    this.#told ??= this.#tell();
    return this.#told;
  }

  #tell(): Told {
    const before = this.#before;
    const { events } = this.#body;
    const { eventTexts, playedFor } = this.message;
    if (!before) {
      return { events, texts: eventTexts, playedFor };
    }
    const shift = before.events.length;
    const shifted = playedFor.map((one) => ({ ...one, eventsBefore: one.eventsBefore + shift }));
    return {
      events: [...before.events, ...events],
      texts: [...before.texts, ...eventTexts],
      playedFor: [...before.playedFor, ...shifted],
    };
  }

  get #body(): Body {
    return this.message.game.value as unknown as Body;
  }

  #emptyView(): Message {
    const view = BODIES.get(this.message.game.case ?? "")?.message?.field.view?.message;
    if (!view) {
      throw new Error("the ask is of no game that this SDK knows");
    }
    return create(view);
  }
}

/** An ask of any game. */
// biome-ignore lint/suspicious/noExplicitAny: a bot of one game is a bot of asks of its types
export type AnyAsk = Ask<any, any, any>;

/** The end of a match. */
export class End {
  readonly #before: Told | undefined;

  constructor(
    /** The arena's own message. */
    readonly message: MatchEnd,
    /** The match that has ended. */
    readonly match: Match,
    before: Told | undefined,
  ) {
    this.#before = before;
  }

  /** Whether the match ended while the bot was cut off, so that its result is not known. */
  get missed(): boolean {
    return this.message.ending === Ending.UNSPECIFIED;
  }

  /** How it ended, as a word: completed, forfeit, aborted or missed. */
  get how(): string {
    return this.missed ? "missed" : (Ending[this.message.ending] ?? "ended").toLowerCase();
  }

  /** Points, by seat; none if the end was missed. */
  get scores(): readonly number[] {
    return this.message.scores;
  }

  /** What happened since the bot was last given an ask, oldest first. */
  get events(): readonly Message[] {
    return [...(this.#before?.events ?? []), ...bodies(this.message.trailingEvents)];
  }
}

/** The games' own messages in events of any game. */
export function bodies(events: readonly GameEvent[]): Message[] {
  return events.flatMap((event) => (event.game.value ? [event.game.value] : []));
}
