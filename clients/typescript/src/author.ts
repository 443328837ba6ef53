import { create, fromBinary, toJsonString } from "@bufbuild/protobuf";
import { type AnyAsk, Ask, End, Match } from "./ask.js";
import { type BatchBot, type Bot, chosen, failed, type Player } from "./bot.js";
import {
  AskSchema,
  type MatchEnd,
  MatchEndSchema,
  MatchStartSchema,
} from "./gen/cardarena/v1/play_pb.js";
import type { ChosenMove, Over, ToAuthor, ToStream } from "./link.js";
import type { Logger } from "./log.js";
import type { Turn } from "./turn.js";

const MOST_LOGGED_CHARS = 2000;

/** An ask, and whether the author's code was given it. */
interface Asked {
  readonly askId: bigint;
  readonly ask: Ask;
  open: boolean;
  shown: boolean;
}

/** A match, with the author's bot. */
interface Seat {
  readonly match: Match;
  /** Undefined before the match has begun for the author, and if it failed to. */
  bot: Bot<AnyAsk> | undefined;
  failure: unknown;
  last: Asked | undefined;
  /** What waits while the bot awaits something. */
  readonly waiting: Work[];
  busy: boolean;
}

/** What is told of a match that has begun. */
type OfSeat = Extract<ToAuthor, { readonly kind: "ask" | "settled" | "wanted" | "ended" }>;

/** A call of the author's code; a promise if that awaits. */
type Work = () => Promise<void> | undefined;

/** What the author's code is joined to. */
export interface Ends {
  /** Takes choices to the stream's thread. */
  readonly send: (choices: ToStream) => void;
  /** Gives what that has told and nobody has read yet; undefined if there is nothing. */
  readonly poll: () => ToAuthor | undefined;
  /** Is told when bots begin to be called, one after the other, and when that is through. */
  readonly turn: Pick<Turn, "begin" | "end">;
  /** Is told that play is over. */
  readonly over: (over: Over) => void;
  readonly log: Logger;
}

/**
 * Calls the author's code, and catches what it throws. A match is played in order; while one bot
 * awaits, other matches go on.
 */
export class Author {
  readonly #player: Player<AnyAsk>;
  readonly #batch: BatchBot<AnyAsk> | undefined;
  readonly #ends: Ends;
  readonly #seats = new Map<number, Seat>();
  #queue: { readonly seat: Seat; readonly work: Work }[] = [];
  #gathered: Asked[] = [];
  #deciding = false;
  #running = 0;
  #pumping = false;
  #calling = false;
  #idle: (() => void) | undefined;

  constructor(player: Player<AnyAsk>, ends: Ends) {
    this.#player = player;
    this.#batch = player.batch;
    this.#ends = ends;
  }

  /** Takes what the stream's thread tells, and calls the author's code. */
  receive(...told: readonly ToAuthor[]): void {
    for (const one of told) {
      this.#accept(one);
    }
    this.#pump();
  }

  /** No more is told: waits until the author's code has returned from all that it was given. */
  async finish(): Promise<void> {
    for (const [id, seat] of this.#seats) {
      this.#onEnded(id, seat, create(MatchEndSchema, { match: seat.match.number }));
    }
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#pump();
    await idle;
  }

  #accept(one: ToAuthor): void {
    if (one.kind === "say") {
      this.#ends.log[one.level](one.line);
    } else if (one.kind === "over") {
      this.#ends.over(one);
    } else if (one.kind === "started") {
      this.#onStarted(one.seat, new Match(fromBinary(MatchStartSchema, one.start)));
    } else {
      const seat = this.#seats.get(one.seat);
      if (seat) {
        this.#acceptOf(seat, one);
      }
    }
  }

  #acceptOf(seat: Seat, one: OfSeat): void {
    const { last } = seat;
    if (one.kind === "ask") {
      const before = last && !last.shown ? last.ask.told : undefined;
      const ask = new Ask(one.ask, seat.match, before, one.cameMs);
      seat.last = { askId: one.askId, ask, open: true, shown: false };
      if (!one.answered) {
        this.#enqueue(seat, seat.last);
      }
    } else if (one.kind === "ended") {
      this.#onEnded(one.seat, seat, fromBinary(MatchEndSchema, one.end));
    } else if (last?.askId === one.askId) {
      last.open = one.kind === "wanted";
      if (!last.open) {
        last.ask.abort();
      } else if (!last.shown) {
        last.ask.renew();
        this.#enqueue(seat, last);
      }
    }
  }

  #onStarted(id: number, match: Match): void {
    const seat: Seat = {
      match,
      bot: undefined,
      failure: undefined,
      last: undefined,
      waiting: [],
      busy: false,
    };
    this.#seats.set(id, seat);
    this.#do(seat, () => {
      try {
        this.#batch?.started?.(match);
        seat.bot = this.#player.bot?.(match);
      } catch (error) {
        seat.failure = error;
        this.#tell(error, `the bot failed at the start of match ${match.number}`);
      }
      return undefined;
    });
  }

  #onEnded(id: number, seat: Seat, message: MatchEnd): void {
    const { last, match } = seat;
    if (last) {
      last.open = false;
      last.ask.abort();
    }
    this.#seats.delete(id);
    this.#do(seat, () => {
      const end = new End(message, match, last && !last.shown ? last.ask.told : undefined);
      try {
        (this.#batch ?? seat.bot)?.ended?.(end);
      } catch (error) {
        this.#tell(error, `the bot failed at the end of match ${match.number}`);
      }
      return undefined;
    });
  }

  #enqueue(seat: Seat, asked: Asked): void {
    if (this.#batch) {
      this.#gathered.push(asked);
    } else {
      this.#do(seat, () => this.#decide(seat, asked));
    }
  }

  #do(seat: Seat, work: Work): void {
    this.#queue.push({ seat, work });
  }

  // Calling.

  /** Calls the author's code for what waits, and reads between calls what was told meanwhile. */
  #pump(): void {
    if (this.#pumping) {
      return;
    }
    this.#pumping = true;
    this.#begin();
    for (const { seat, work } of this.#queue.splice(0)) {
      this.#drain();
      seat.waiting.push(work);
      this.#goOn(seat);
    }
    this.#drain();
    this.#decideAll();
    this.#pumping = false;
    if (this.#running > 0 || this.#deciding) {
      setImmediate(() => this.#end()); // promises that are kept by now have their turn
    } else {
      this.#end();
    }
    if (this.#queue.length > 0) {
      setImmediate(() => this.#pump()); // timers and promises have their turn
    } else if (this.#running === 0 && !this.#deciding && this.#gathered.length === 0) {
      this.#idle?.();
    }
  }

  #begin(): void {
    if (!this.#calling) {
      this.#calling = true;
      this.#ends.turn.begin();
    }
  }

  #end(): void {
    if (this.#calling) {
      this.#calling = false;
      this.#ends.turn.end();
    }
  }

  #drain(): void {
    for (let one = this.#ends.poll(); one; one = this.#ends.poll()) {
      this.#accept(one);
    }
  }

  /** Does what waits for a match, until its bot awaits something. */
  #goOn(seat: Seat): void {
    while (!seat.busy) {
      const work = seat.waiting.shift();
      if (!work) {
        return;
      }
      const pending = work();
      if (pending) {
        seat.busy = true;
        this.#running += 1;
        pending.then(() => {
          seat.busy = false;
          this.#running -= 1;
          this.#goOn(seat);
          this.#pump();
        });
      }
    }
  }

  #decide(seat: Seat, asked: Asked): Promise<void> | undefined {
    if (!asked.open || asked.shown) {
      return undefined;
    }
    asked.shown = true;
    const { bot } = seat;
    if (!bot) {
      const why = seat.failure ?? new Error("the player made no bot");
      this.#ends.send([failed(asked.askId, why)]);
      return undefined;
    }
    try {
      const choice: unknown = bot.move(asked.ask);
      if (isPromise(choice)) {
        return choice.then(
          (value) => this.#choose(asked, value),
          (error: unknown) => this.#failed(seat, asked, error),
        );
      }
      this.#choose(asked, choice);
    } catch (error) {
      this.#failed(seat, asked, error);
    }
    return undefined;
  }

  #choose(asked: Asked, choice: unknown): void {
    this.#ends.send([this.#chosen(asked, choice)]);
  }

  #chosen(asked: Asked, choice: unknown): ChosenMove {
    try {
      return chosen(asked.ask, choice);
    } catch (error) {
      return this.#firstMove(asked, error);
    }
  }

  #failed(seat: Seat, asked: Asked, error: unknown): void {
    const gaveUp = asked.ask.signal.aborted && (error as Error | undefined)?.name === "AbortError";
    if (!gaveUp) {
      this.#ends.send([this.#firstMove(asked, error)]);
      return;
    }
    // It stopped as its answer was not wanted any more; if it is again by now, it is asked anew.
    asked.shown = false;
    if (asked.open) {
      asked.ask.renew();
      this.#enqueue(seat, asked);
    }
  }

  #firstMove(asked: Asked, error: unknown): ChosenMove {
    const { ask, askId } = asked;
    const json = toJsonString(AskSchema, ask.message).slice(0, MOST_LOGGED_CHARS);
    const where = `ask ${askId} of match ${ask.match.number} (${ask.match.game})`;
    this.#tell(
      error,
      `the bot failed at ${where}, so the first move is played; the ask was ${json}`,
    );
    return failed(askId, error);
  }

  /** Gives all asks that wait to one object. */
  #decideAll(): void {
    const batch = this.#batch;
    const asked = this.#deciding || !batch ? [] : this.#gathered.splice(0).filter(isWanted);
    if (!batch || asked.length === 0) {
      return;
    }
    for (const one of asked) {
      one.shown = true;
    }
    const take = (choices: unknown) => this.#chooseAll(asked, choices);
    try {
      const choices: unknown = batch.moves(asked.map((one) => one.ask));
      if (!isPromise(choices)) {
        take(choices);
        return;
      }
      this.#deciding = true;
      choices
        .then(take, (error: unknown) => this.#allFailed(asked, error))
        .then(() => {
          this.#deciding = false;
          this.#pump();
        });
    } catch (error) {
      this.#allFailed(asked, error);
    }
  }

  #chooseAll(asked: readonly Asked[], choices: unknown): void {
    const count = Array.isArray(choices) ? choices.length : 0;
    if (!Array.isArray(choices) || count !== asked.length) {
      this.#allFailed(asked, new Error(`${count} moves were chosen for ${asked.length} asks`));
      return;
    }
    this.#ends.send(asked.map((one, place) => this.#chosen(one, choices[place])));
  }

  #allFailed(asked: readonly Asked[], error: unknown): void {
    this.#tell(error, `the bot failed at a batch of ${asked.length}, so first moves are played`);
    this.#ends.send(asked.map((one) => failed(one.askId, error)));
  }

  #tell(error: unknown, what: string): void {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#ends.log.error(`${what}: ${why}`);
  }
}

function isWanted(asked: Asked): boolean {
  return asked.open && !asked.shown;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
