package cardarena;

import java.util.Locale;

/**
 * The times of a match's asks in the bot's own queue and on the network, which only the bot's side
 * can tell from thinking. Notes of them are due after 4, 8, 16 … asks that the bot answered.
 */
final class AskTimes {
  /** The number of asks before the first note of their times. */
  private static final int FEWEST_ASKS = 4;

  /** The mean time of an ask in the queue and on the network from which there is a note. */
  private static final long NOTED_NANOS = 10_000_000;

  boolean due;
  private int asks;
  private long queueNanos;
  private int measured;
  private long networkNanos;
  private long arrivedNanos;
  private Long deliveredNanos;
  private Long answeredNanos;

  /**
   * Begins with the next ask. The round trip is that of the ask before, and 0 if it is not known.
   */
  void arrived(long nowNanos, int lastRoundTripMs) {
    if (deliveredNanos != null && answeredNanos != null) {
      asks++;
      queueNanos += deliveredNanos - arrivedNanos;
      if (lastRoundTripMs > 0) {
        measured++;
        long ownNanos = answeredNanos - arrivedNanos;
        networkNanos += Math.max(0, lastRoundTripMs * 1_000_000L - ownNanos);
      }
      if (asks >= FEWEST_ASKS && Integer.bitCount(asks) == 1) {
        due = queueNanos + networkNanos >= NOTED_NANOS * asks;
      }
    }
    arrivedNanos = nowNanos;
    deliveredNanos = null;
    answeredNanos = null;
  }

  void delivered(long nowNanos) {
    deliveredNanos = nowNanos;
  }

  void answered(long nowNanos) {
    answeredNanos = nowNanos;
  }

  /** The note that `arena match why` reads. It is due again after twice as many asks. */
  String note() {
    due = false;
    return String.format(
        Locale.ROOT,
        "times: %d asks waited %.3f s in the own queue; %d took %.3f s on the network",
        asks,
        queueNanos / 1e9,
        measured,
        networkNanos / 1e9);
  }
}
