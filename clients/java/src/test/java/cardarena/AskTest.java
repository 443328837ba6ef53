package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import cardarena.games.v1.JamAsk;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamView;
import cardarena.v1.MatchStart;
import com.google.protobuf.Message;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Asks for tests of bots, and the types of asks. */
class AskTest {
  private static final JamView VIEW = JamView.getDefaultInstance();

  private static Ask<JamView, JamMove, JamEvent> ask() {
    return Jam.ask(VIEW, Jam.Moves.play("2c"), Jam.Moves.play("As"));
  }

  /** An ask that does not offer all legal moves. */
  private static Ask<JamView, JamMove, JamEvent> partial() {
    var body = JamAsk.newBuilder().addMoves(Jam.Moves.play("2c"));
    Match match = new Match(MatchStart.getDefaultInstance());
    return Jam.ask(match, cardarena.v1.Ask.newBuilder().setJam(body).build());
  }

  private record Row(
      String why,
      Ask<JamView, JamMove, JamEvent> ask,
      Function<Ask<JamView, JamMove, JamEvent>, Choice<JamMove>> choice,
      String expected) {}

  @TestFactory
  Stream<DynamicTest> anAskTellsWhatAChoiceStandsFor() {
    return Stream.of(
            new Row("an index", ask(), ask -> ask.choose(1), "As"),
            new Row(
                "an offered move with a note",
                ask(),
                ask -> ask.choose(Jam.Moves.play("2c")).withNote("low"),
                "2c"),
            new Row(
                "an index past the list",
                ask(),
                ask -> ask.choose(2),
                "move index 2 is out of range: 2 moves are offered"),
            new Row(
                "a move that is not among all legal ones",
                ask(),
                ask -> ask.choose(Jam.Moves.play("Kd")),
                "the move is not legal"),
            new Row(
                "a move that is not offered, of more than are",
                partial(),
                ask -> ask.choose(Jam.Moves.play("Kd")),
                "Kd"))
        .map(row -> DynamicTest.dynamicTest(row.why, () -> check(row)));
  }

  private static void check(Row row) {
    Choice<JamMove> choice = row.choice.apply(row.ask);
    if (row.expected.length() == 2) {
      assertEquals(row.expected, row.ask.chosen(choice).getCard());
    } else {
      var error = assertThrows(IllegalArgumentException.class, () -> row.ask.chosen(choice));
      assertTrue(error.getMessage().contains(row.expected), error.getMessage());
    }
  }

  @Test
  void anAskForTestsIsOfSeatZeroWithAMinuteOfTime() {
    assertEquals("jam", ask().match().game());
    assertEquals(0, ask().match().seat());
    assertTrue(ask().isOpen() && ask().timeLeft().toSeconds() > 50);
  }

  @Test
  void anAskForTestsNeedsAGame() {
    Match match = new Match(MatchStart.getDefaultInstance());
    var empty = cardarena.v1.Ask.getDefaultInstance();
    assertThrows(IllegalArgumentException.class, () -> Ask.of(match, empty));
  }

  @Test
  void aBotIsNotGivenMessagesOfAnotherGame() {
    Ask<Message, Message, Message> any = Ask.of(ask().match(), ask().message());
    assertEquals(Jam.Moves.play("As"), any.moves().get(1));
    assertThrows(ClassCastException.class, () -> Soko.ask(ask().match(), ask().message()));
  }
}
