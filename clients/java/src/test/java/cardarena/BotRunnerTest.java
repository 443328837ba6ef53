package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** How an ask is kept, delivered, answered and failed. */
class BotRunnerTest {
  private final List<BotTask> tasks = new ArrayList<>();
  private Outbox out = new Outbox();

  private Session session(boolean askForced, Consumer<BotTask> consumer) {
    Session session = new Session(Hello.getDefaultInstance(), askForced, null, consumer);
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
    session.streamOpened(out);
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
  void aForcedMoveIsAnsweredWithoutTheBot() {
    asks(session(false, tasks::add), ask(7, 1));
    assertEquals(1, sent().size());
    assertEquals(1, tasks.size());
  }

  @Test
  void aRepeatedAskGetsTheSameAnswerAndTheBotIsNotCalledAgain() {
    Session session = session(true, tasks::add);
    asks(session, ask(7, 3));
    Answer first = Answer.newBuilder().setAskId(7).setIndex(2).setNote("first").build();
    session.answer(List.of(first), 0);
    session.answer(List.of(first.toBuilder().setIndex(1).build()), 0);
    assertEquals(List.of(first), sent());
    tasks.clear();
    stream(session, 2, ask(7, 3));
    asks(session, ask(7, 3));
    assertEquals(List.of(first), sent());
    assertEquals(List.of(), tasks);
  }

  @Test
  void waitsInTheOwnQueueAndOnTheNetworkAreNoted() {
    Session session = session(true, tasks::add);
    long nowNanos = 0;
    for (long id = 1; id < 7; id++) {
      cardarena.v1.Ask.Builder ask = ask(id, 2).toBuilder();
      ask.getClockBuilder().setLastRoundTripMs(250); // 200 ms of it are the bot's
      Asks asks = Asks.newBuilder().addAsks(ask).build();
      session.receive(ArenaMessage.newBuilder().setAsks(asks).build(), nowNanos);
      nowNanos += 50_000_000;
      session.deliver(((BotTask.Asked) tasks.get(tasks.size() - 1)).ask(), nowNanos);
      nowNanos += 150_000_000;
      session.answer(List.of(Answer.newBuilder().setAskId(id).setIndex(0).build()), nowNanos);
    }
    String note = "times: 4 asks waited 0.200 s in the own queue; 4 took 0.200 s on the network";
    assertEquals(List.of("", "", "", "", note, ""), sent().stream().map(Answer::getNote).toList());
  }

  @Test
  void eventsOfUndeliveredAsksComeWithTheNextAsk() {
    Session session = session(true, tasks::add);
    asks(session, ask(7, 3));
    asks(session, ask(8, 3));
    BotTask.Asked last = (BotTask.Asked) tasks.get(tasks.size() - 1);
    assertEquals(2, last.ask().allEvents().events().size());
  }

  @Test
  void anExceptionLosesTheMoveAndNotTheMatch() throws InterruptedException {
    Player player =
        Jam.player(
            "tested",
            match ->
                ask -> {
                  if (ask.id() == 7) {
                    throw new IllegalStateException("an error");
                  }
                  return ask.choose(9);
                });
    BotRunner runner = new BotRunner(player, Thread::new);
    Session session = session(true, runner::accept);
    runner.start(session);
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
    runner.finish();
    assertTrue(answers.get(0).getFailed());
    assertTrue(answers.get(0).getNote().endsWith("an error"));
    assertTrue(
        answers.get(1).getNote().contains("move index 9 is out of range: 3 moves are offered"));
  }

  /** The number of answers in each message, until a number of asks is answered. */
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
  void answersWaitForQueuedAsksAndQuickChoices() throws Exception {
    Outbox outbox = new Outbox(TimeUnit.MINUTES.toNanos(1), 0);
    outbox.putAnswers(answer(1));
    assertEquals(List.of(1), sizes(outbox, 1), "a single answer is sent at once");
    outbox.setAsks(1, 0);
    outbox.putAnswers(answer(2));
    FutureTask<List<BotMessage>> writer = new FutureTask<>(() -> outbox.next(() -> true));
    new Thread(writer).start();
    while (!outbox.isGathering() && !writer.isDone()) {
      Thread.onSpinWait();
    }
    for (long id = 3; id < 9; id++) {
      outbox.putAnswers(answer(id));
    }
    outbox.setAsks(0, 1); // a thread that took its ask may take a minute: it does not delay others
    assertEquals(7, writer.get().get(0).getAnswers().getAnswersCount());
    Outbox patient = new Outbox(TimeUnit.MINUTES.toNanos(1), TimeUnit.MINUTES.toNanos(1));
    patient.setAsks(0, 1);
    patient.putAnswers(answer(2));
    FutureTask<List<BotMessage>> quick = new FutureTask<>(() -> patient.next(() -> true));
    new Thread(quick).start();
    while (!patient.isGathering() && !quick.isDone()) {
      Thread.onSpinWait();
    }
    patient.putAnswers(answer(3));
    patient.setAsks(0, 0);
    assertEquals(2, quick.get().get(0).getAnswers().getAnswersCount(), "a quick choice is awaited");
    Outbox impatient = new Outbox(1, 0);
    impatient.setAsks(1, 0);
    impatient.putAnswers(answer(9));
    assertEquals(List.of(1), sizes(impatient, 1), "the wait has a limit");
  }

  @Test
  void anAskIsQueuedUntilItIsDelivered() {
    Session session = session(true, tasks::add);
    assertEquals(0, session.queuedAsks());
    asks(session, ask(7, 3));
    assertEquals(1, session.queuedAsks());
    session.deliver(((BotTask.Asked) tasks.get(tasks.size() - 1)).ask(), 0);
    assertEquals(0, session.queuedAsks(), "delivered");
  }

  @Test
  void aNoteIsTruncatedByCodePoints() {
    String card = Character.toString(0x1F0A1);
    assertEquals(card.repeat(200), Choice.truncate(card.repeat(200), 200));
    assertEquals("a".repeat(199) + "…", Choice.truncate("a".repeat(201), 200));
    assertEquals("half ?", Choice.truncate("half \ud83d", 200));
  }

  @Test
  void constructorsThrowAtInvalidArguments() {
    assertThrows(IllegalArgumentException.class, () -> Pineapple.Moves.raise(-1));
    assertThrows(IllegalArgumentException.class, () -> Pineapple.Moves.discard("10h"));
    assertEquals(JamMove.class, Jam.Moves.play("As").getClass());
    assertEquals(List.of("2c", "2d", "As", "Jk"), Cards.sorted(Cards.parse("Jk As 2d2c")));
  }
}
