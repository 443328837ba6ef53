const MAX_WAIT_MS = 1;

/**
 * Tells the stream thread whether the bot thread is calling bots, so that answers that are ready are
 * sent together.
 *
 * Both threads share a number. `set` and `clear` increment it, so it is odd while bots are called.
 */
export class BusyFlag {
  readonly shared: SharedArrayBuffer;
  readonly #count: Int32Array;
  readonly #maxWaitMs: number;
  #timedOutAt = 0;

  /** Of the memory of the other thread's flag, or of new memory. Tests set `maxWaitMs`. */
  constructor(
    shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    maxWaitMs = MAX_WAIT_MS,
  ) {
    this.shared = shared;
    this.#count = new Int32Array(shared);
    this.#maxWaitMs = maxWaitMs;
  }

  /** The bot thread starts to call bots. */
  set(): void {
    Atomics.add(this.#count, 0, 1);
  }

  /** The bot thread has called all bots. */
  clear(): void {
    Atomics.add(this.#count, 0, 1);
    Atomics.notify(this.#count, 0);
  }

  /**
   * Blocks the stream thread until the flag is clear, for a millisecond at most.
   *
   * After a timeout it does not wait again until the flag was cleared: a bot that computes for a
   * long time delays no answers.
   *
   * @returns whether the flag was set.
   */
  wait(): boolean {
    const count = Atomics.load(this.#count, 0);
    if (count % 2 === 0 || count === this.#timedOutAt) {
      return false;
    }
    if (Atomics.wait(this.#count, 0, count, this.#maxWaitMs) === "timed-out") {
      this.#timedOutAt = count;
    }
    return true;
  }
}
