package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Status;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a bot connects again, and where. */
class RedialTest {
  private static final Duration NONE = Duration.ZERO;

  private static Redial redial(boolean once) {
    return new Redial("main", once, () -> 0, () -> 1);
  }

  private static Redial.StreamEnd end(Status status, boolean draining, String reason) {
    return new Redial.StreamEnd(status, true, NONE, draining, "", NONE, reason);
  }

  private static Redial.StreamEnd lost(boolean welcomed, Duration openFor, Duration retryDelay) {
    return new Redial.StreamEnd(Status.UNAVAILABLE, welcomed, openFor, false, "", retryDelay, "");
  }

  @ParameterizedTest(name = "{4}")
  @CsvSource({
    "UNAVAILABLE,        '',                false, reconnects, the connection is lost",
    "OK,                 '',                false, reconnects, the arena is not shutting down",
    "OK,                 '',                true,  is done,    the arena is shutting down",
    "ABORTED,            '',                false, is refused, another bot has the token",
    "UNAUTHENTICATED,    '',                false, is refused, the token is wrong",
    "RESOURCE_EXHAUSTED, TOO_MANY_REFUSALS, false, is refused, the bot's mistake",
    "RESOURCE_EXHAUSTED, BUSY,              false, reconnects, a temporary reason",
    "INTERNAL,           '',                false, reconnects, an error of the arena",
  })
  void statuses(Status.Code code, String reason, boolean draining, String bot, String why) {
    Redial.StreamEnd end = end(code.toStatus(), draining, reason);
    if (bot.equals("is refused")) {
      assertThrows(PlayException.Refused.class, () -> redial(false).after(end), why);
    } else {
      boolean done = redial(false).after(end).equals(Redial.Attempt.NONE);
      assertEquals(bot.equals("is done"), done, why);
    }
  }

  @Test
  void delaysDoubleUpToAMaximumAndALongStreamResetsThem() {
    Redial redial = redial(false);
    List<Long> delays = List.of(200L, 400L, 800L, 1600L, 3200L, 6400L, 12_800L, 25_600L, 30_000L);
    for (long delay : delays) {
      assertEquals(delay, redial.after(lost(true, NONE, NONE)).delay().toMillis());
    }
    Duration openFor = Duration.ofSeconds(10);
    assertEquals(200, redial.after(lost(true, openFor, NONE)).delay().toMillis());
  }

  @Test
  void aRequestedDelayIsKept() {
    Duration requested = Duration.ofSeconds(5);
    assertEquals(10, redial(false).after(lost(true, NONE, requested)).delay().toSeconds());
  }

  @Test
  void aRedirectHoldsUntilAStreamThereGetsNoWelcome() {
    Redial redial = redial(false);
    redial.after(new Redial.StreamEnd(Status.OK, true, NONE, false, "second", NONE, ""));
    assertEquals("second", redial.after(lost(true, NONE, NONE)).endpoint());
    assertEquals("main", redial.after(lost(false, NONE, NONE)).endpoint());
  }

  @Test
  void whichAddressesAreLocal() {
    Stream.of("localhost:7654", "127.0.0.2:1", "[::1]:7654", "::1", "unix:/tmp/arena")
        .forEach(target -> assertEquals(true, Dialer.isLocal(target), target));
    Stream.of("localhost.example:1", "127.0.0.1.example:1", "10.0.0.1:7654")
        .forEach(target -> assertEquals(false, Dialer.isLocal(target), target));
  }

  @Test
  void anUnknownFlagIsAnError() {
    var nothing = Map.<String, String>of();
    assertThrows(PlayException.Misconfigured.class, () -> Options.of(nothing, "--adress", "x"));
    assertThrows(PlayException.Misconfigured.class, () -> Options.of(nothing, "--address"));
    var environment = Map.of("CARDARENA_ADDRESS", "there:1", "CARDARENA_ONCE", "1");
    assertEquals("there:1", Options.of(environment).address());
    assertEquals("here:1", Options.of(environment, "--address=here:1").address());
    assertEquals(true, Options.of(environment).once());
    Options options = Options.of(environment).address("here:1").withTls(Path.of("ca.pem"));
    assertEquals(
        "here:1 true ca.pem", options.address() + " " + options.tls() + " " + options.ca());
    assertThrows(NullPointerException.class, () -> options.token(null));
  }

  @Test
  void theErrorOfAMissingFileHasItsCause() {
    Options options = Options.of(Map.of(), "--address=https://localhost:1", "--ca=nowhere.pem");
    PlayException.Misconfigured error =
        assertThrows(PlayException.Misconfigured.class, () -> new Dialer(options));
    assertInstanceOf(NoSuchFileException.class, error.getCause());
  }
}
