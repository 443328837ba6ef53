package cardarena;

import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * Decides after each stream whether, when and where the bot connects again. Delays grow
 * exponentially, with full jitter.
 */
final class Redial {
  private static final Duration BACKOFF_BASE = Duration.ofMillis(200);
  private static final Duration BACKOFF_CAP = Duration.ofSeconds(30);

  /** A stream that was open this long resets the backoff. */
  private static final Duration RESETS_BACKOFF = Duration.ofSeconds(10);

  /** How long a bot with CARDARENA_ONCE=1 tries to connect. */
  private static final Duration ONCE_TIMEOUT = Duration.ofSeconds(10);

  /** Redirects in a row that are followed without delay. Further ones wait as after a failure. */
  private static final int MAX_IMMEDIATE_REDIRECTS = 4;

  private static final int MAX_DOUBLINGS = 16;

  /** The statuses after which another attempt would give the same result. */
  private static final Map<Status.Code, String> REFUSALS =
      Map.of(
          Status.Code.UNAUTHENTICATED, "the arena rejected the token",
          Status.Code.PERMISSION_DENIED, "the token does not allow to play at this arena",
          Status.Code.FAILED_PRECONDITION, "the arena rejected the bot",
          Status.Code.INVALID_ARGUMENT, "the arena rejected the bot's hello message",
          Status.Code.ABORTED,
              "another bot connected with the same token; use a token for each bot",
          Status.Code.UNIMPLEMENTED,
              "the server is not an arena, or speaks another version of the protocol");

  /**
   * The reasons of RESOURCE_EXHAUSTED that go away by themselves. Any other is the bot's mistake.
   */
  private static final Set<String> TEMPORARY_REASONS =
      Set.of("BUSY", "TOO_MANY_OPEN", "NOT_READING");

  /**
   * How a stream ended.
   *
   * @param openFor how long the stream was open
   * @param redirect where the arena sent the bot; empty if nowhere
   * @param retryDelay the delay that the arena requested
   * @param reason of google.rpc.ErrorInfo; empty without one
   */
  record StreamEnd(
      Status status,
      boolean welcomed,
      Duration openFor,
      boolean draining,
      String redirect,
      Duration retryDelay,
      String reason) {
    /** The status in one line. gRPC's text of a failed connection is in its causes. */
    String summary() {
      Throwable cause = status.getCause();
      while (cause != null && cause.getCause() != null) {
        cause = cause.getCause();
      }
      String details = status.getDescription() == null ? "" : status.getDescription();
      if (cause != null && cause.getMessage() != null) {
        return cause.getMessage();
      }
      return details.isEmpty() ? status.getCode().name() : details;
    }
  }

  /** The next stream. {@link #NONE} if play is over. */
  record Attempt(String endpoint, Duration delay) {
    static final Attempt NONE = new Attempt("", Duration.ZERO);
  }

  private final String address;
  private final boolean once;
  private final LongSupplier nanoTime;
  private final DoubleSupplier random;
  private int failures;
  private int redirects;
  private String endpoint;
  private long connectedAtNanos;

  /** Of a monotonic clock, and a source of random numbers from 0 to 1. */
  Redial(String address, boolean once, LongSupplier nanoTime, DoubleSupplier random) {
    this.address = address;
    this.endpoint = address;
    this.once = once;
    this.nanoTime = nanoTime;
    this.random = random;
    this.connectedAtNanos = nanoTime.getAsLong();
  }

  /** The first stream. */
  Attempt first() {
    return new Attempt(address, Duration.ZERO);
  }

  /**
   * The next stream after one that ended.
   *
   * @throws PlayException if the arena refused the bot, or the time of a bot with CARDARENA_ONCE=1
   *     is over
   */
  Attempt after(StreamEnd end) {
    if (end.welcomed) {
      connectedAtNanos = nanoTime.getAsLong();
    }
    if (end.openFor.compareTo(RESETS_BACKOFF) >= 0) {
      failures = 0;
      redirects = 0;
    }
    if (!end.redirect.isEmpty()) {
      endpoint = end.redirect;
      redirects++;
      return new Attempt(
          endpoint, redirects <= MAX_IMMEDIATE_REDIRECTS ? Duration.ZERO : delay(Duration.ZERO));
    }
    Status.Code code = end.status.getCode();
    String refusal = REFUSALS.get(code);
    if (refusal != null) {
      String details = end.status.getDescription();
      throw new PlayException.Refused(details == null ? refusal : refusal + " (" + details + ")");
    }
    if (code == Status.Code.RESOURCE_EXHAUSTED && !TEMPORARY_REASONS.contains(end.reason)) {
      throw new PlayException.Refused(
          "the arena closed the stream because the bot exceeded a limit (" + end.summary() + ")");
    }
    if (code == Status.Code.OK && (once || end.draining)) {
      return Attempt.NONE;
    }
    if (!end.welcomed) {
      endpoint = address;
    }
    Duration delay = delay(end.retryDelay);
    if (!once) {
      return new Attempt(endpoint, delay);
    }
    Duration left = ONCE_TIMEOUT.minusNanos(nanoTime.getAsLong() - connectedAtNanos);
    if (left.isNegative() || left.isZero()) {
      throw new PlayException.Unreachable(
          "no connection to the arena at "
              + address
              + " for "
              + ONCE_TIMEOUT.toSeconds()
              + " s ("
              + end.summary()
              + ")");
    }
    return new Attempt(endpoint, delay.compareTo(left) < 0 ? delay : left);
  }

  /**
   * The delay before the next stream: what the arena requested, and a random time on top. Many bots
   * may have the same request, so the random time is at least as long.
   */
  private Duration delay(Duration requested) {
    long doubled = BACKOFF_BASE.toNanos() << Math.min(failures, MAX_DOUBLINGS);
    failures++;
    long max = Math.max(Math.min(BACKOFF_CAP.toNanos(), doubled), requested.toNanos());
    return requested.plusNanos((long) (random.getAsDouble() * max));
  }
}
