/** What a bet or raise may come to, in chips. */
export class Bets {
  constructor(
    readonly least: number,
    readonly most: number,
  ) {}

  /**
   * The bet, if it may be made: `moves.raise(range.at(40))`.
   *
   * @throws RangeError if it may not.
   */
  at(to: number): number {
    if (!Number.isInteger(to) || to < this.least || to > this.most) {
      throw new RangeError(`a bet to ${to} is none: it may come to ${this.least} to ${this.most}`);
    }
    return to;
  }

  /** The bet, or that of the range which is nearest to it. */
  nearest(to: number): number {
    return Math.min(Math.max(Math.round(to), this.least), this.most);
  }
}

/** The range of a view; nothing if it has none. */
export function betsOf(least: number | undefined, most: number | undefined): Bets | undefined {
  return least === undefined || most === undefined ? undefined : new Bets(least, most);
}
