import {
  create,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { gameMessages } from "./game_messages.js";
import { Ending, MatchTermsSchema } from "./gen/cardarena/v1/game_pb.js";
import {
  type Ask as AskMessage,
  AskSchema,
  type MatchEnd,
  type MatchStart,
  MatchStartSchema,
  type PlayedFor,
} from "./gen/cardarena/v1/play_pb.js";
import { uint32 } from "./hashes.js";
import { OWN_DICE, randomOf, seedOf } from "./random.js";
import { nowMs } from "./time.js";

/** A match, as the arena announced it. */
export class Match {
  constructor(
    /** The arena's message. */
    readonly start: MatchStart,
  ) {}

  /** The number by which the arena identifies this bot's seat at the match. */
  get number(): number {
    return this.start.match;
  }

  /** The game's id, such as `jam`. */
  get game(): string {
    return this.start.terms?.game ?? "";
  }

  /** The bot's seat, from 0. */
  get seat(): number {
    return this.start.seat;
  }

  /** The value of a game option; undefined if the game has no option of that name. */
  option(name: string): number | string | boolean | undefined {
    const value = this.start.terms?.options.find((setting) => setting.name === name)?.value;
    return typeof value?.value === "bigint" ? Number(value.value) : value?.value;
  }
}

/** The events of one or more asks. */
export interface AskEvents {
  readonly events: readonly Message[];
  readonly texts: readonly string[];
  readonly playedFor: readonly PlayedFor[];
}

/** The fields that the asks of all families have. */
interface Body {
  readonly view?: Message;
  readonly moves: readonly Message[];
  readonly events: readonly Message[];
  readonly movesComplete: boolean;
}

/** The asks of the families, by the name of their field in oneof game. */
const BODIES = new Map(AskSchema.oneofs[0]?.fields.map((field) => [field.localName, field]));

/** Closes an ask. These three are functions, so that the package does not export them. */
export let closeAsk: (ask: AnyAsk) => void;
/** Opens an ask again that the bot has not received. */
export let renewAsk: (ask: AnyAsk) => void;
/** The events of an ask, after those of earlier asks that the bot did not receive. */
export let eventsOf: (ask: AnyAsk) => AskEvents;

/** One decision of a seat, with everything that the seat can see. */
export class Ask<
  View extends Message = Message,
  Move extends Message = Message,
  Event extends Message = Message,
> {
  readonly #bytes: Uint8Array;
  readonly #undelivered: AskEvents | undefined;
  readonly #receivedMs: number;
  #controller = new AbortController();
  #message: AskMessage | undefined;
  #allEvents: AskEvents | undefined;
  #random: (() => number) | undefined;

  /**
   * Of an encoded ask, the events of earlier asks that the bot did not receive, and the time of
   * arrival.
   */
  constructor(
    bytes: Uint8Array,
    /** The match of the ask. */
    readonly match: Match,
    undelivered: AskEvents | undefined,
    receivedMs: number,
  ) {
    this.#bytes = bytes;
    this.#undelivered = undelivered;
    this.#receivedMs = receivedMs;
  }

  /** The arena's message. */
  get message(): AskMessage {
    this.#message ??= fromBinary(AskSchema, this.#bytes);
    return this.#message;
  }

  /** The number by which the arena identifies this ask. */
  get id(): bigint {
    return this.message.askId;
  }

  /** What the seat sees now. */
  get view(): View {
    const view = this.#body.view ?? this.#emptyView();
    return view as View;
  }

  /** Legal moves, at least one. If `movesComplete`, these are all legal moves. */
  get moves(): readonly Move[] {
    return this.#body.moves as readonly Move[];
  }

  /** Whether the offered moves are all legal moves. */
  get movesComplete(): boolean {
    return this.#body.movesComplete;
  }

  /** The moves in notation, if the player has `wantText`. */
  get moveTexts(): readonly string[] {
    return this.message.moveTexts;
  }

  /**
   * What happened since the bot last received an ask of this match, oldest first. This includes the
   * events of asks that the bot did not receive.
   */
  get events(): readonly Event[] {
    return this.#events.events as readonly Event[];
  }

  /** The events in notation, if the player has `wantText`. */
  get eventTexts(): readonly string[] {
    return this.#events.texts;
  }

  /** The moves among the events that the arena played in place of a bot at fault. */
  get playedFor(): readonly PlayedFor[] {
    return this.#events.playedFor;
  }

  /**
   * The remaining time in milliseconds: the time of the move and the bank, less the time since the
   * ask arrived.
   *
   * It does not include the way from and to the arena. `message.clock` has how long that and the
   * decision took last time.
   */
  get timeLeftMs(): number {
    const clock = this.message.clock;
    const budgetMs = (clock?.moveMs ?? 0) + (clock?.bankMs ?? 0);
    return Math.max(0, this.#receivedMs + budgetMs - nowMs());
  }

  /**
   * What the random numbers of this decision are seeded with: 32 secret bytes, the same in every
   * language. They follow from the match's dice and the number of the decision. If the arena sent
   * no dice, the SDK draws some for the process.
   */
  get seed(): Uint8Array {
    const { dice, match } = this.match.start;
    return seedOf(
      dice.length > 0 ? dice : Buffer.concat([OWN_DICE, uint32(match)]),
      this.message.decision,
    );
  }

  /**
   * The next random number of this decision, at least 0 and below 1: as `Math.random()`, by the
   * generator sfc32 from `seed`.
   *
   * A bot that takes all its chance from here plays the same again if dice and asks are the same.
   * Versions that are compared with common dice have the same numbers at the same decision, so
   * fewer deal-sets tell them apart.
   */
  random(): number {
    this.#random ??= randomOf(this.seed);
    return this.#random();
  }

  /**
   * Aborted when the arena no longer waits for the answer. A bot that awaits something can pass it
   * on.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  static {
    closeAsk = (ask) => ask.#controller.abort();
    renewAsk = (ask) => {
      if (ask.signal.aborted) {
        ask.#controller = new AbortController();
      }
    };
    eventsOf = (ask) => ask.#events;
  }

  get #events(): AskEvents {
    this.#allEvents ??= this.#joinEvents();
    return this.#allEvents;
  }

  #joinEvents(): AskEvents {
    const undelivered = this.#undelivered;
    const { events } = this.#body;
    const { eventTexts, playedFor } = this.message;
    if (!undelivered) {
      return { events, texts: eventTexts, playedFor };
    }
    const shift = undelivered.events.length;
    const shifted = playedFor.map((one) => ({ ...one, eventsBefore: one.eventsBefore + shift }));
    return {
      events: [...undelivered.events, ...events],
      texts: [...undelivered.texts, ...eventTexts],
      playedFor: [...undelivered.playedFor, ...shifted],
    };
  }

  get #body(): Body {
    return this.message.game.value as unknown as Body;
  }

  #emptyView(): Message {
    const view = BODIES.get(this.message.game.case ?? "")?.message?.field.view?.message;
    if (!view) {
      throw new Error("this SDK does not support the game of the ask");
    }
    return create(view);
  }
}

/** An ask of any game. */
// biome-ignore lint/suspicious/noExplicitAny: a bot of one game is a bot of asks of its types
export type AnyAsk = Ask<any, any, any>;

const MINUTE_MS = 60_000;

/** An ask for the test of a bot, as if it arrived now. A match without terms is of the game. */
export function newAsk(
  gameId: string,
  game: AskMessage["game"],
  start: MessageInitShape<typeof MatchStartSchema>,
): AnyAsk {
  const ask = create(AskSchema, { clock: { moveMs: MINUTE_MS }, game });
  const match = new Match(create(MatchStartSchema, start));
  match.start.terms ??= create(MatchTermsSchema, { game: gameId });
  return new Ask(toBinary(AskSchema, ask), match, undefined, nowMs());
}

/** The end of a match. */
export class End {
  readonly #undelivered: AskEvents | undefined;

  constructor(
    /** The arena's message. */
    readonly message: MatchEnd,
    /** The match that ended. */
    readonly match: Match,
    undelivered: AskEvents | undefined,
  ) {
    this.#undelivered = undelivered;
  }

  /** Whether the match ended while the bot was disconnected. Its result is then unknown. */
  get missed(): boolean {
    return this.message.ending === Ending.UNSPECIFIED;
  }

  /** How the match ended: completed, forfeit, aborted or missed. */
  get ending(): string {
    return this.missed ? "missed" : (Ending[this.message.ending] ?? "ended").toLowerCase();
  }

  /** Points by seat; empty if the end was missed. */
  get scores(): readonly number[] {
    return this.message.scores;
  }

  /** What happened since the bot last received an ask, oldest first. */
  get events(): readonly Message[] {
    return [...(this.#undelivered?.events ?? []), ...gameMessages(this.message.trailingEvents)];
  }
}
