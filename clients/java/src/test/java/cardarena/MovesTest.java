package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import cardarena.games.v1.ArlingtonMove;
import cardarena.games.v1.ArlingtonVerb;
import cardarena.games.v1.EleusisMove;
import cardarena.games.v1.EleusisOpinion;
import cardarena.games.v1.EleusisVerb;
import cardarena.games.v1.JamSource;
import cardarena.games.v1.KlaberjassMove;
import cardarena.games.v1.KlaberjassVerb;
import cardarena.games.v1.OklahomaRummyEnd;
import cardarena.games.v1.OklahomaRummyMove;
import cardarena.games.v1.OklahomaRummyVerb;
import cardarena.games.v1.PineappleMove;
import cardarena.games.v1.PineappleVerb;
import cardarena.games.v1.SokoView;
import com.google.protobuf.Message;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Constructors of moves, and the range of bets. */
class MovesTest {
  private record Made(String why, Message made, Message.Builder wanted) {}

  private record Invalid(String why, Executable made, String message) {}

  @TestFactory
  Stream<DynamicTest> constructorsSetTheFieldsThatTheirVerbUses() {
    return Stream.of(
            new Made(
                "a bet",
                Pineapple.Moves.raise(40),
                PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_RAISE).setTo(40)),
            new Made(
                "a card and a flag",
                Klaberjass.Moves.play("Jh", true),
                KlaberjassMove.newBuilder()
                    .setVerb(KlaberjassVerb.KLABERJASS_VERB_PLAY)
                    .setCard("Jh")
                    .setBela(true)),
            new Made(
                "no optional card",
                Eleusis.Moves.judge(EleusisOpinion.ELEUSIS_OPINION_RIGHT),
                EleusisMove.newBuilder()
                    .setVerb(EleusisVerb.ELEUSIS_VERB_JUDGE)
                    .setOpinion(EleusisOpinion.ELEUSIS_OPINION_RIGHT)),
            new Made(
                "no end, as for a set",
                OklahomaRummy.Moves.extend(1, "4c"),
                OklahomaRummyMove.newBuilder()
                    .setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_EXTEND)
                    .setIndex(1)
                    .setCard("4c")),
            new Made(
                "an unspecified spectrum",
                Arlington.Moves.leadSet(List.of("As")),
                ArlingtonMove.newBuilder()
                    .setVerb(ArlingtonVerb.ARLINGTON_VERB_LEAD_SET)
                    .addCards("As")))
        .map(
            row ->
                DynamicTest.dynamicTest(row.why, () -> assertEquals(row.wanted.build(), row.made)));
  }

  @TestFactory
  Stream<DynamicTest> constructorsThrowAtInvalidArguments() {
    return Stream.of(
            new Invalid("a negative number", () -> Pineapple.Moves.raise(-1), "to is -1"),
            new Invalid(
                "a card of three characters",
                () -> Pineapple.Moves.discard("10h"),
                "\"10h\" is not a card"),
            new Invalid("an empty card", () -> Jam.Moves.play(""), "\"\" is not a card"),
            new Invalid("null for a card", () -> Jam.Moves.play(null), "\"null\" is not a card"),
            new Invalid(
                "one invalid card of two",
                () -> Eleusis.Moves.play(List.of("As", "Zz")),
                "\"Zz\" is not a card"),
            new Invalid("an invalid suit", () -> Klaberjass.Moves.name("x"), "\"x\" is not a suit"),
            new Invalid(
                "an unspecified source",
                () -> Jam.Moves.draw(JamSource.JAM_SOURCE_UNSPECIFIED),
                "source is JAM_SOURCE_UNSPECIFIED"),
            new Invalid(
                "an unknown source",
                () -> Jam.Moves.draw(JamSource.UNRECOGNIZED),
                "source is UNRECOGNIZED"),
            new Invalid(
                "null for an optional end",
                () -> OklahomaRummy.Moves.extend(1, "4c", (OklahomaRummyEnd) null),
                "end is null"))
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.why,
                    () -> {
                      String message =
                          assertThrows(IllegalArgumentException.class, row.made).getMessage();
                      assertTrue(message.contains(row.message), message);
                    }));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "less than the least, 3, false, 4",
    "the least,           4, true,  4",
    "between,             9, true,  9",
    "the most,           40, true, 40",
    "more than the most, 41, false, 40",
  })
  void betsAreTheRangeOfTheView(String why, int to, boolean may, int nearest) {
    Bets bets = Soko.bets(SokoView.newBuilder().setMinTo(4).setMaxTo(40).build()).orElseThrow();
    assertEquals(nearest, bets.nearest(to), why);
    if (may) {
      assertEquals(to, bets.at(to));
    } else {
      assertThrows(IllegalArgumentException.class, () -> bets.at(to));
    }
  }

  @Test
  void aSeatThatMayNotBetHasNoRange() {
    assertTrue(Soko.bets(SokoView.getDefaultInstance()).isEmpty());
  }
}
