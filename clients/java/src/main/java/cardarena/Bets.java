package cardarena;

/**
 * The range of a bet or raise.
 *
 * @param least in chips
 * @param most in chips
 */
public record Bets(int least, int most) {
  /**
   * Returns the bet: {@code Moves.raise(bets.at(40))}.
   *
   * @throws IllegalArgumentException if it is outside the range
   */
  public int at(int to) {
    if (to < least || to > most) {
      throw new IllegalArgumentException(
          "a bet to " + to + " is out of range: write " + least + " to " + most);
    }
    return to;
  }

  /** The bet in the range that is nearest to an amount. */
  public int nearest(int to) {
    return Math.min(Math.max(to, least), most);
  }
}
