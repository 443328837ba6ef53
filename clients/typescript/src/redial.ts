import { status } from "@grpc/grpc-js";
import { RefusedError, UnreachableError } from "./errors.js";

const BACKOFF_BASE_MS = 200;
const BACKOFF_CAP_MS = 30_000;
/** A stream that was open this long resets the backoff. */
const RESETS_BACKOFF_MS = 10_000;
/** How long a bot with `once` tries to connect. */
const ONCE_TIMEOUT_MS = 10_000;
/** Redirects in a row that are followed without delay. Further ones wait as after a failure. */
const MAX_IMMEDIATE_REDIRECTS = 4;

/** The statuses after which another attempt would give the same result. */
const REFUSALS = new Map<number, string>([
  [status.UNAUTHENTICATED, "the arena rejected the token"],
  [status.PERMISSION_DENIED, "the token does not allow to play at this arena"],
  [status.FAILED_PRECONDITION, "the arena rejected the bot"],
  [status.INVALID_ARGUMENT, "the arena rejected the bot's hello message"],
  [status.ABORTED, "another bot connected with the same token; use a token for each bot"],
  [status.UNIMPLEMENTED, "the server is not an arena, or speaks another version of the protocol"],
]);

/** The reasons of RESOURCE_EXHAUSTED that go away by themselves. Any other is the bot's mistake. */
const TEMPORARY_REASONS = new Set(["BUSY", "TOO_MANY_OPEN", "NOT_READING"]);

/** How a stream ended. */
export interface StreamEnd {
  readonly code: number;
  readonly details: string;
  readonly welcomed: boolean;
  /** How long the stream was open. */
  readonly openForMs: number;
  readonly draining: boolean;
  /** Where the arena sent the bot; empty if nowhere. */
  readonly redirect: string;
  /** The delay that the arena requested. */
  readonly retryDelayMs: number;
  /** The reason of google.rpc.ErrorInfo; empty without one. */
  readonly reason: string;
}

/** The next stream. */
export interface Attempt {
  readonly endpoint: string;
  readonly delayMs: number;
}

/**
 * Decides after each stream whether, when and where the bot connects again. Delays grow
 * exponentially, with full jitter.
 */
export class Redial {
  readonly #address: string;
  readonly #once: boolean;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  #failures = 0;
  #redirects = 0;
  #endpoint: string;
  #connectedAtMs: number;

  /** `nowMs` is a monotonic clock. `random` returns numbers from 0 to 1. */
  constructor(address: string, once: boolean, nowMs: () => number, random: () => number) {
    this.#address = address;
    this.#endpoint = address;
    this.#once = once;
    this.#nowMs = nowMs;
    this.#random = random;
    this.#connectedAtMs = nowMs();
  }

  /** The first stream. */
  first(): Attempt {
    return { endpoint: this.#address, delayMs: 0 };
  }

  /**
   * The next stream after one that ended; undefined if play is over.
   *
   * @throws RefusedError if the arena refused the bot.
   * @throws UnreachableError if the time of a bot with `once` is over.
   */
  after(end: StreamEnd): Attempt | undefined {
    if (end.welcomed) {
      this.#connectedAtMs = this.#nowMs();
    }
    if (end.openForMs >= RESETS_BACKOFF_MS) {
      this.#failures = 0;
      this.#redirects = 0;
    }
    if (end.redirect) {
      this.#endpoint = end.redirect;
      this.#redirects += 1;
      const delayMs = this.#redirects <= MAX_IMMEDIATE_REDIRECTS ? 0 : this.#delayMs(0);
      return { endpoint: this.#endpoint, delayMs };
    }
    const refusal = REFUSALS.get(end.code);
    if (refusal) {
      throw new RefusedError(end.details ? `${refusal} (${end.details})` : refusal);
    }
    if (end.code === status.RESOURCE_EXHAUSTED && !TEMPORARY_REASONS.has(end.reason)) {
      const why = summary(end);
      throw new RefusedError(
        `the arena closed the stream because the bot exceeded a limit (${why})`,
      );
    }
    if (end.code === status.OK && (this.#once || end.draining)) {
      return undefined;
    }
    if (!end.welcomed) {
      this.#endpoint = this.#address;
    }
    const delayMs = this.#delayMs(end.retryDelayMs);
    if (!this.#once) {
      return { endpoint: this.#endpoint, delayMs };
    }
    const leftMs = ONCE_TIMEOUT_MS - (this.#nowMs() - this.#connectedAtMs);
    if (leftMs <= 0) {
      const seconds = ONCE_TIMEOUT_MS / 1000;
      throw new UnreachableError(
        `no connection to the arena at ${this.#address} for ${seconds} s (${summary(end)})`,
      );
    }
    return { endpoint: this.#endpoint, delayMs: Math.min(delayMs, leftMs) };
  }

  /**
   * The delay before the next stream: what the arena requested, and a random time on top. Many bots
   * may have the same request, so the random time is at least as long.
   */
  #delayMs(requestedMs: number): number {
    const maxMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    return requestedMs + this.#random() * Math.max(maxMs, requestedMs);
  }
}

/** The status in one line. */
export function summary(end: StreamEnd): string {
  return end.details || (status[end.code] ?? String(end.code));
}
