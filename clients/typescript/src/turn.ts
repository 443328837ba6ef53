const MOST_MS = 1;

/**
 * Says between the two threads whether the author's thread is calling bots, one after the other: what
 * they answer at once goes together. A number that both share counts up whenever it begins and whenever
 * it is through, so that it is odd while it calls.
 */
export class Turn {
  readonly shared: SharedArrayBuffer;
  readonly #count: Int32Array;
  readonly #mostMs: number;
  #late = 0;

  /** Of what the other thread has; `mostMs` is for tests. */
  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), mostMs = MOST_MS) {
    this.shared = shared;
    this.#count = new Int32Array(shared);
    this.#mostMs = mostMs;
  }

  /** The author's thread calls bots, until it is through. */
  begin(): void {
    Atomics.add(this.#count, 0, 1);
  }

  /** It is through. */
  end(): void {
    Atomics.add(this.#count, 0, 1);
    Atomics.notify(this.#count, 0);
  }

  /**
   * The stream's thread makes way until the other is through, for a millisecond at most. It does that
   * once in each turn: a bot that thinks for long holds up no answers.
   *
   * @returns whether there was anything to wait for.
   */
  wait(): boolean {
    const count = Atomics.load(this.#count, 0);
    if (count % 2 === 0 || count === this.#late) {
      return false;
    }
    if (Atomics.wait(this.#count, 0, count, this.#mostMs) === "timed-out") {
      this.#late = count;
    }
    return true;
  }
}
