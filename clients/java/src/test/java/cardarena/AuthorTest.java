package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import cardarena.games.Jam;
import cardarena.games.Pineapple;
import cardarena.games.v1.JamAsk;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamView;
import cardarena.v1.Answer;
import cardarena.v1.ArenaMessage;
import cardarena.v1.Asks;
import cardarena.v1.BotMessage;
import cardarena.v1.Hello;
import cardarena.v1.MatchStart;
import cardarena.v1.MatchTerms;
import cardarena.v1.Welcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of an ask: kept, given, answered, and failed. */
class AuthorTest {
  private final List<Work> told = new ArrayList<>();
  private Outbox out = new Outbox();

  private Session session(boolean askForced, Consumer<Work> tell) {
    Session session = new Session(Hello.getDefaultInstance(), askForced, null, tell);
    stream(session, 1);
    MatchStart start =
        MatchStart.newBuilder()
            .setMatch(1)
            .setTerms(MatchTerms.newBuilder().setGame("jam"))
            .build();
    session.receive(ArenaMessage.newBuilder().setMatchStart(start).build(), 0);
    return session;
  }

  private void stream(Session session, int epoch, cardarena.v1.Ask... open) {
    out = new Outbox();
    session.opened(out);
    Welcome.Builder welcome = Welcome.newBuilder().setEpoch(epoch).addAllOpenAsks(List.of(open));
    if (epoch > 1) {
      welcome.addMatches(
          MatchStart.newBuilder().setMatch(1).setTerms(MatchTerms.newBuilder().setGame("jam")));
    }
    session.receive(ArenaMessage.newBuilder().setWelcome(welcome).build(), 0);
    out.take();
  }

  private static cardarena.v1.Ask ask(long id, int offered) {
    JamAsk.Builder body = JamAsk.newBuilder().setView(JamView.getDefaultInstance());
    IntStream.range(0, offered)
        .forEach(place -> body.addMoves(Jam.Moves.play("23456789".charAt(place) + "c")));
    body.addEvents(JamEvent.newBuilder().setSeat((int) id)).setMovesComplete(true);
    return cardarena.v1.Ask.newBuilder().setAskId(id).setMatch(1).setJam(body).build();
  }

  private static void asks(Session session, cardarena.v1.Ask... asks) {
    Asks all = Asks.newBuilder().addAllAsks(List.of(asks)).build();
    session.receive(ArenaMessage.newBuilder().setAsks(all).build(), 0);
  }

  private List<Answer> sent() {
    return out.take().stream()
        .filter(BotMessage::hasAnswers)
        .flatMap(message -> message.getAnswers().getAnswersList().stream())
        .toList();
  }

  @Test
  void aSingleMoveIsAnsweredWithoutTheBot() {
    asks(session(false, told::add), ask(7, 1));
    assertEquals(1, sent().size());
    assertEquals(1, told.size());
  }

  @Test
  void anAskThatComesAgainIsAnsweredTheSameAndTheBotIsNotAskedAnew() {
    Session session = session(true, told::add);
    asks(session, ask(7, 3));
    Answer first = Answer.newBuilder().setAskId(7).setIndex(2).setNote("first").build();
    session.answer(List.of(first));
    session.answer(List.of(first.toBuilder().setIndex(1).build()));
    assertEquals(List.of(first), sent());
    told.clear();
    stream(session, 2, ask(7, 3));
    asks(session, ask(7, 3));
    assertEquals(List.of(first), sent());
    assertEquals(List.of(), told);
  }

  @Test
  void eventsOfAsksThatTheBotNeverSawComeWithTheNextOne() {
    Session session = session(true, told::add);
    asks(session, ask(7, 3));
    asks(session, ask(8, 3));
    Work.Asked last = (Work.Asked) told.get(told.size() - 1);
    assertEquals(2, last.ask().events().size());
  }

  @Test
  void anExceptionCostsTheMoveAndNotTheMatch() throws InterruptedException {
    Player player =
        Jam.player(
            "tried",
            match ->
                ask -> {
                  if (ask.id() == 7) {
                    throw new IllegalStateException("an error of its own");
                  }
                  return Choice.index(9);
                });
    Author author = new Author(player, Thread::new);
    Session session = session(true, author::accept);
    author.join(session);
    asks(session, ask(7, 3));
    List<Answer> answers = new ArrayList<>();
    while (answers.isEmpty()) {
      Thread.sleep(1);
      answers.addAll(sent());
    }
    asks(session, ask(8, 3));
    while (answers.size() < 2) {
      Thread.sleep(1);
      answers.addAll(sent());
    }
    session.finish();
    author.finish();
    assertEquals(0, answers.get(0).getIndex());
    assertTrue(answers.get(0).getNote().endsWith("an error of its own"));
    assertTrue(answers.get(1).getNote().contains("there is no move 9: 3 are offered"));
  }

  /** How many answers each message has that goes out until so many asks are answered. */
  private static List<Integer> sizes(Outbox outbox, int answers) throws InterruptedException {
    List<Integer> sizes = new ArrayList<>();
    for (int left = answers; left > 0; ) {
      for (BotMessage message : outbox.next(() -> true)) {
        sizes.add(message.getAnswers().getAnswersCount());
        left -= message.getAnswers().getAnswersCount();
      }
    }
    return sizes;
  }

  private static List<Answer> answer(long id) {
    return List.of(Answer.newBuilder().setAskId(id).build());
  }

  @Test
  @Timeout(30)
  void answersGoTogetherAndWaitForThreadsThatWereHandedAnAskAlone() throws Exception {
    Outbox outbox = new Outbox(TimeUnit.MINUTES.toNanos(1));
    outbox.putAnswers(answer(1));
    assertEquals(List.of(1), sizes(outbox, 1), "a lone answer goes at once");
    outbox.handed(1);
    outbox.putAnswers(answer(2));
    FutureTask<List<BotMessage>> writer = new FutureTask<>(() -> outbox.next(() -> true));
    new Thread(writer).start();
    while (!outbox.gathers() && !writer.isDone()) {
      Thread.onSpinWait();
    }
    for (long id = 3; id < 9; id++) {
      outbox.putAnswers(answer(id));
    }
    outbox.handed(0); // it may think as long as it likes
    assertEquals(7, writer.get().get(0).getAnswers().getAnswersCount());
    Outbox hasty = new Outbox(1);
    hasty.handed(1);
    hasty.putAnswers(answer(9));
    assertEquals(List.of(1), sizes(hasty, 1), "what does not run for so long is not waited for");
  }

  @Test
  void anAskIsHandedOnUntilItIsTakenUp() {
    Session session = session(true, told::add);
    assertEquals(0, session.handed());
    asks(session, ask(7, 3));
    assertEquals(1, session.handed());
    session.show(((Work.Asked) told.get(told.size() - 1)).ask());
    assertEquals(0, session.handed(), "however long it is thought about");
  }

  @Test
  void aNoteIsCutByCodePoints() {
    String card = Character.toString(0x1F0A1);
    assertEquals(card.repeat(200), Choice.cut(card.repeat(200), 200));
    assertEquals("a".repeat(199) + "…", Choice.cut("a".repeat(201), 200));
  }

  @Test
  void noMoveIsMalformed() {
    assertThrows(IllegalArgumentException.class, () -> Pineapple.Moves.raise(-1));
    assertThrows(IllegalArgumentException.class, () -> Pineapple.Moves.discard("10h"));
    assertEquals(JamMove.class, Jam.Moves.play("As").getClass());
    assertEquals(List.of("2c", "2d", "As", "Jk"), Cards.sorted(Cards.parse("Jk As 2d2c")));
  }
}
