import { status } from "@grpc/grpc-js";
import { RefusedError, UnreachableError } from "./errors.js";

const BACKOFF_BASE_MS = 200;
const BACKOFF_CAP_MS = 30_000;
/** A stream that lived this long makes up for all failures before it. */
const STEADY_MS = 10_000;
/** How long a bot that plays once tries to reach its arena. */
const PATIENCE_MS = 10_000;
/** Redirects in a row that are followed at once; further ones wait as failures do. */
const MAX_HOPS = 4;

/** Statuses after which trying again would change nothing. */
const FINAL = new Map<number, string>([
  [status.UNAUTHENTICATED, "the arena does not take this token"],
  [status.PERMISSION_DENIED, "the arena does not let this token play"],
  [status.FAILED_PRECONDITION, "the arena turned the bot away"],
  [status.INVALID_ARGUMENT, "the arena did not accept what the bot said of itself"],
  [status.ABORTED, "another bot took over with the same token; each needs its own"],
  [status.UNIMPLEMENTED, "this server is no arena, or one of another version"],
]);

/** Reasons of RESOURCE_EXHAUSTED that pass; any other is a mistake of the client's. */
const PASSING = new Set(["BUSY", "TOO_MANY_OPEN", "NOT_READING"]);

/** How a stream ended. */
export interface StreamEnd {
  readonly code: number;
  readonly details: string;
  readonly welcomed: boolean;
  readonly livedMs: number;
  readonly draining: boolean;
  /** Where the arena sent the bot; empty if nowhere. */
  readonly redirect: string;
  /** How long the arena asks it to stay away. */
  readonly retryMs: number;
  /** The reason that the arena names; empty if none. */
  readonly reason: string;
}

/** One more stream. */
export interface Attempt {
  readonly endpoint: string;
  readonly delayMs: number;
}

/** Decides after each stream whether there is another: with full jitter, and where. */
export class Redial {
  readonly #address: string;
  readonly #once: boolean;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  #failures = 0;
  #hops = 0;
  #endpoint: string;
  #reachedMs: number;

  /** Of a clock, and a number from 0 to 1 at random. */
  constructor(address: string, once: boolean, nowMs: () => number, random: () => number) {
    this.#address = address;
    this.#endpoint = address;
    this.#once = once;
    this.#nowMs = nowMs;
    this.#random = random;
    this.#reachedMs = nowMs();
  }

  /** The first stream. */
  first(): Attempt {
    return { endpoint: this.#address, delayMs: 0 };
  }

  /**
   * The stream that follows one that ended so; undefined if it was the last.
   *
   * @throws RefusedError if the arena will not have the bot.
   * @throws UnreachableError if it was not there for as long as the bot was to try.
   */
  after(end: StreamEnd): Attempt | undefined {
    if (end.welcomed) {
      this.#reachedMs = this.#nowMs();
    }
    if (end.livedMs >= STEADY_MS) {
      this.#failures = 0;
      this.#hops = 0;
    }
    if (end.redirect) {
      this.#endpoint = end.redirect;
      this.#hops += 1;
      const delayMs = this.#hops <= MAX_HOPS ? 0 : this.#delayMs(0);
      return { endpoint: this.#endpoint, delayMs };
    }
    const final = FINAL.get(end.code);
    if (final) {
      throw new RefusedError(end.details ? `${final} (${end.details})` : final);
    }
    if (end.code === status.RESOURCE_EXHAUSTED && !PASSING.has(end.reason)) {
      throw new RefusedError(`the arena takes no more of what this bot says (${shortly(end)})`);
    }
    if (end.code === status.OK && (this.#once || end.draining)) {
      return undefined;
    }
    if (!end.welcomed) {
      this.#endpoint = this.#address;
    }
    const delayMs = this.#delayMs(end.retryMs);
    if (!this.#once) {
      return { endpoint: this.#endpoint, delayMs };
    }
    const leftMs = PATIENCE_MS - (this.#nowMs() - this.#reachedMs);
    if (leftMs <= 0) {
      const why = `no arena at ${this.#address} for ${PATIENCE_MS / 1000} s (${shortly(end)})`;
      throw new UnreachableError(why);
    }
    return { endpoint: this.#endpoint, delayMs: Math.min(delayMs, leftMs) };
  }

  /** On top of what the arena asked for. Many bots were told the same: they spread. */
  #delayMs(retryMs: number): number {
    const mostMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    return retryMs + this.#random() * Math.max(mostMs, retryMs);
  }
}

/** How it ended, in short. */
export function shortly(end: StreamEnd): string {
  return end.details || (status[end.code] ?? String(end.code));
}
