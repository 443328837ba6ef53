package cardarena;

import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** Decides after each stream whether there is another: with full jitter, and where. */
final class Redial {
  private static final Duration BACKOFF_BASE = Duration.ofMillis(200);
  private static final Duration BACKOFF_CAP = Duration.ofSeconds(30);

  /** A stream that lived this long makes up for all failures before it. */
  private static final Duration STEADY = Duration.ofSeconds(10);

  /** How long a bot that plays once tries to reach its arena. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Redirects in a row that are followed at once; further ones wait as failures do. */
  private static final int MAX_HOPS = 4;

  private static final int MAX_DOUBLINGS = 16;

  /** Statuses after which trying again would change nothing. */
  private static final Map<Status.Code, String> FINAL =
      Map.of(
          Status.Code.UNAUTHENTICATED, "the arena does not take this token",
          Status.Code.PERMISSION_DENIED, "the arena does not let this token play",
          Status.Code.FAILED_PRECONDITION, "the arena turned the bot away",
          Status.Code.INVALID_ARGUMENT, "the arena did not accept what the bot said of itself",
          Status.Code.ABORTED, "another bot took over with the same token; each needs its own",
          Status.Code.UNIMPLEMENTED, "this server is no arena, or one of another version");

  /** Reasons of RESOURCE_EXHAUSTED that pass; any other is a mistake of the client's. */
  private static final Set<String> PASSING = Set.of("BUSY", "TOO_MANY_OPEN", "NOT_READING");

  /** How a stream ended: where it was sent and the reason are empty if there is none. */
  record StreamEnd(
      Status status,
      boolean welcomed,
      Duration lived,
      boolean draining,
      String redirect,
      Duration retry,
      String reason) {
    /** The same in short: what gRPC knows of a failed connection is in the causes. */
    String shortly() {
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

  /** One more stream; none follows if the endpoint is empty. */
  record Attempt(String endpoint, Duration delay) {
    static final Attempt NONE = new Attempt("", Duration.ZERO);
  }

  private final String address;
  private final boolean once;
  private final LongSupplier nanos;
  private final DoubleSupplier random;
  private int failures;
  private int hops;
  private String endpoint;
  private long reachedNanos;

  /** Of a clock, and a number from 0 to 1 at random. */
  Redial(String address, boolean once, LongSupplier nanos, DoubleSupplier random) {
    this.address = address;
    this.endpoint = address;
    this.once = once;
    this.nanos = nanos;
    this.random = random;
    this.reachedNanos = nanos.getAsLong();
  }

  /** The first stream. */
  Attempt first() {
    return new Attempt(address, Duration.ZERO);
  }

  /** The stream that follows one that ended so. */
  Attempt after(StreamEnd end) {
    if (end.welcomed) {
      reachedNanos = nanos.getAsLong();
    }
    if (end.lived.compareTo(STEADY) >= 0) {
      failures = 0;
      hops = 0;
    }
    if (!end.redirect.isEmpty()) {
      endpoint = end.redirect;
      hops++;
      return new Attempt(endpoint, hops <= MAX_HOPS ? Duration.ZERO : delay(Duration.ZERO));
    }
    Status.Code code = end.status.getCode();
    String words = FINAL.get(code);
    if (words != null) {
      String details = end.status.getDescription();
      throw new PlayException.Refused(details == null ? words : words + " (" + details + ")");
    }
    if (code == Status.Code.RESOURCE_EXHAUSTED && !PASSING.contains(end.reason)) {
      throw new PlayException.Refused(
          "the arena takes no more of what this bot says (" + end.shortly() + ")");
    }
    if (code == Status.Code.OK && (once || end.draining)) {
      return Attempt.NONE;
    }
    if (!end.welcomed) {
      endpoint = address;
    }
    Duration delay = delay(end.retry);
    if (!once) {
      return new Attempt(endpoint, delay);
    }
    Duration left = PATIENCE.minusNanos(nanos.getAsLong() - reachedNanos);
    if (left.isNegative() || left.isZero()) {
      throw new PlayException.Unreachable(
          "no arena at " + address + " for " + PATIENCE.toSeconds() + " s (" + end.shortly() + ")");
    }
    return new Attempt(endpoint, delay.compareTo(left) < 0 ? delay : left);
  }

  /** On top of what the arena asked for. Many bots were told the same: they spread. */
  private Duration delay(Duration retry) {
    long doubled = BACKOFF_BASE.toNanos() << Math.min(failures, MAX_DOUBLINGS);
    failures++;
    long most = Math.max(Math.min(BACKOFF_CAP.toNanos(), doubled), retry.toNanos());
    return retry.plusNanos((long) (random.getAsDouble() * most));
  }
}
