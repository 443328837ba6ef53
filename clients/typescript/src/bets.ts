/** The range of a bet or raise, in chips. */
export class Bets {
  constructor(
    readonly least: number,
    readonly most: number,
  ) {}

  /**
   * Returns the bet: `moves.raise(range.at(40))`.
   *
   * @throws RangeError if it is outside the range.
   */
  at(to: number): number {
    if (!Number.isInteger(to) || to < this.least || to > this.most) {
      throw new RangeError(`a bet to ${to} is out of range: write ${this.least} to ${this.most}`);
    }
    return to;
  }

  /** The bet in the range that is nearest to an amount. */
  nearest(to: number): number {
    return Math.min(Math.max(Math.round(to), this.least), this.most);
  }
}

/** The range of a view; undefined if it has none. */
export function betsOf(least: number | undefined, most: number | undefined): Bets | undefined {
  return least === undefined || most === undefined ? undefined : new Bets(least, most);
}
