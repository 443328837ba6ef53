package cardarena;

import cardarena.v1.Answer;
import cardarena.v1.Answers;
import cardarena.v1.BotMessage;
import cardarena.v1.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** What is to be sent on one stream. Answers gather until the writer is free. */
final class Outbox {
  private final ReentrantLock lock = new ReentrantLock();
  private final Runnable filled;
  private List<BotMessage> messages = new ArrayList<>();
  private List<Answer> answers = new ArrayList<>();
  private Limits limits = Limits.getDefaultInstance();

  /** Of what is to be called when there is something to send; it must not wait. */
  Outbox(Runnable filled) {
    this.filled = filled;
  }

  /** Holds it to the arena's limits. */
  void limit(Limits told) {
    lock.lock();
    limits = told;
    lock.unlock();
  }

  void put(List<BotMessage> more) {
    lock.lock();
    messages.addAll(more);
    lock.unlock();
    filled.run();
  }

  void putAnswers(List<Answer> more) {
    lock.lock();
    answers.addAll(more);
    lock.unlock();
    filled.run();
  }

  /** Takes all that is to be sent. */
  List<BotMessage> take() {
    lock.lock();
    try {
      List<BotMessage> all = messages;
      frames(all, answers);
      messages = new ArrayList<>();
      answers = new ArrayList<>();
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Adds answers in as few messages as the arena's limits allow. */
  private void frames(List<BotMessage> all, List<Answer> given) {
    int count = given.size();
    if (count == 0) {
      return;
    }
    if (limits.getMaxAnswers() > 0 && count > limits.getMaxAnswers()) {
      split(all, given, limits.getMaxAnswers());
      return;
    }
    BotMessage message = message(given);
    int most = limits.getMaxMessageBytes();
    if (most == 0 || message.getSerializedSize() <= most) {
      all.add(message);
    } else if (count > 1) {
      split(all, given, count / 2);
    } else {
      String note =
          "error: the answer has "
              + message.getSerializedSize()
              + " bytes, the arena takes "
              + most;
      Answer first = given.get(0);
      all.add(
          message(List.of(Answer.newBuilder().setAskId(first.getAskId()).setNote(note).build())));
    }
  }

  private void split(List<BotMessage> all, List<Answer> given, int at) {
    frames(all, given.subList(0, at));
    frames(all, given.subList(at, given.size()));
  }

  private static BotMessage message(List<Answer> given) {
    return BotMessage.newBuilder().setAnswers(Answers.newBuilder().addAllAnswers(given)).build();
  }
}
