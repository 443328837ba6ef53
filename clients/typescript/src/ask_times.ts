/** The number of asks before the first note of their times. */
const FEWEST_ASKS = 4;
/** The mean time of an ask in the queue and on the network from which there is a note. */
const NOTED_MS = 10;

/**
 * The times of a match's asks in the bot's own queue and on the network, which only the bot's side
 * can tell from thinking. Notes of them are due after 4, 8, 16 … asks that the bot answered.
 */
export class AskTimes {
  due = false;
  #asks = 0;
  #queueMs = 0;
  #measured = 0;
  #networkMs = 0;
  #arrivedMs = 0;
  #deliveredMs: number | undefined;
  #answeredMs = 0;

  /** Begins with the next ask. The round trip is that of the ask before, and 0 if it is not known. */
  arrived(nowMs: number, lastRoundTripMs: number): void {
    if (this.#deliveredMs !== undefined) {
      this.#asks += 1;
      this.#queueMs += this.#deliveredMs - this.#arrivedMs;
      if (lastRoundTripMs > 0) {
        this.#measured += 1;
        this.#networkMs += Math.max(0, lastRoundTripMs - (this.#answeredMs - this.#arrivedMs));
      }
      if (this.#asks >= FEWEST_ASKS && (this.#asks & (this.#asks - 1)) === 0) {
        this.due = this.#queueMs + this.#networkMs >= NOTED_MS * this.#asks;
      }
    }
    this.#arrivedMs = nowMs;
    this.#deliveredMs = undefined;
  }

  /** The bot answers the ask; it was delivered to its code before. */
  answered(deliveredMs: number, nowMs: number): void {
    this.#deliveredMs = deliveredMs;
    this.#answeredMs = nowMs;
  }

  /** The note that `arena match why` reads. It is due again after twice as many asks. */
  note(): string {
    this.due = false;
    const queue = (this.#queueMs / 1000).toFixed(3);
    const network = (this.#networkMs / 1000).toFixed(3);
    return `times: ${this.#asks} asks waited ${queue} s in the own queue; ${this.#measured} took ${network} s on the network`;
  }
}
