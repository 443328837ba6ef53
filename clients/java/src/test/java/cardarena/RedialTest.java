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

/** When a bot comes back, where to, and when it stops. */
class RedialTest {
  private static final Duration NONE = Duration.ZERO;

  private static Redial redial(boolean once) {
    return new Redial("main", once, () -> 0, () -> 1);
  }

  private static Redial.StreamEnd end(Status status, boolean draining, String reason) {
    return new Redial.StreamEnd(status, true, NONE, draining, "", NONE, reason);
  }

  private static Redial.StreamEnd cut(boolean welcomed, Duration lived, Duration retry) {
    return new Redial.StreamEnd(Status.UNAVAILABLE, welcomed, lived, false, "", retry, "");
  }

  @ParameterizedTest(name = "{4}")
  @CsvSource({
    "UNAVAILABLE,        '',                false, comes back, the way is cut",
    "OK,                 '',                false, comes back, it has not said that it closes",
    "OK,                 '',                true,  is done,    it has said so",
    "ABORTED,            '',                false, stops,      another bot took over",
    "UNAUTHENTICATED,    '',                false, stops,      the token is not taken",
    "RESOURCE_EXHAUSTED, TOO_MANY_REFUSALS, false, stops,      it is its own fault",
    "RESOURCE_EXHAUSTED, BUSY,              false, comes back, that passes",
    "INTERNAL,           '',                false, comes back, it is the arena's fault",
  })
  void what(Status.Code code, String reason, boolean draining, String does, String why) {
    Redial.StreamEnd end = end(code.toStatus(), draining, reason);
    if (does.equals("stops")) {
      assertThrows(PlayException.Refused.class, () -> redial(false).after(end), why);
    } else {
      boolean done = redial(false).after(end).equals(Redial.Attempt.NONE);
      assertEquals(does.equals("is done"), done, why);
    }
  }

  @Test
  void waitsDoubleUpToACapAndAStreamThatLivedMakesUpForFailures() {
    Redial redial = redial(false);
    List<Long> waits = List.of(200L, 400L, 800L, 1600L, 3200L, 6400L, 12_800L, 25_600L, 30_000L);
    for (long wait : waits) {
      assertEquals(wait, redial.after(cut(true, NONE, NONE)).delay().toMillis());
    }
    Duration lived = Duration.ofSeconds(10);
    assertEquals(200, redial.after(cut(true, lived, NONE)).delay().toMillis());
  }

  @Test
  void whatTheArenaAsksForIsWaitedBefore() {
    Duration asked = Duration.ofSeconds(5);
    assertEquals(10, redial(false).after(cut(true, NONE, asked)).delay().toSeconds());
  }

  @Test
  void aRedirectCountsUntilAStreamIsNotWelcomedThere() {
    Redial redial = redial(false);
    redial.after(new Redial.StreamEnd(Status.OK, true, NONE, false, "second", NONE, ""));
    assertEquals("second", redial.after(cut(true, NONE, NONE)).endpoint());
    assertEquals("main", redial.after(cut(false, NONE, NONE)).endpoint());
  }

  @Test
  void whatStaysOnThisMachine() {
    Stream.of("localhost:7654", "127.0.0.2:1", "[::1]:7654", "::1", "unix:/tmp/arena")
        .forEach(target -> assertEquals(true, Dialer.isLocal(target), target));
    Stream.of("localhost.example:1", "127.0.0.1.example:1", "10.0.0.1:7654")
        .forEach(target -> assertEquals(false, Dialer.isLocal(target), target));
  }

  @Test
  void whatIsNoFlagIsRefused() {
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
  void aFileThatIsNotThereIsToldWithItsCause() {
    Options options = Options.of(Map.of(), "--address=https://localhost:1", "--ca=nowhere.pem");
    PlayException.Misconfigured wrong =
        assertThrows(PlayException.Misconfigured.class, () -> new Dialer(options));
    assertInstanceOf(NoSuchFileException.class, wrong.getCause());
  }
}
