package cardarena;

/**
 * What a bet or raise may come to.
 *
 * @param least in chips
 * @param most in chips
 */
public record Bets(int least, int most) {
  /**
   * The bet, if it may be made: {@code Moves.raise(bets.at(40))}.
   *
   * @throws IllegalArgumentException if it may not
   */
  public int at(int to) {
    if (to < least || to > most) {
      throw new IllegalArgumentException(
          "a bet to " + to + " is none: it may come to " + least + " to " + most);
    }
    return to;
  }

  /** The bet, or that of the range which is nearest to it. */
  public int nearest(int to) {
    return Math.min(Math.max(to, least), most);
  }
}
