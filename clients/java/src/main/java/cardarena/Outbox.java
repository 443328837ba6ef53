package cardarena;

import cardarena.v1.Answer;
import cardarena.v1.Answers;
import cardarena.v1.BotMessage;
import cardarena.v1.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * What is to be sent on one stream. Answers gather until the writer is free, and all threads that
 * were handed an ask have had the processor: what they answer at once goes together. No answer
 * waits for a bot that thinks.
 */
final class Outbox {
  /** How long answers wait at most for threads that were handed an ask, and have not run yet. */
  private static final long GATHER_MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition taken = lock.newCondition();
  private final long gatherMostNanos;
  private List<BotMessage> messages = new ArrayList<>();
  private List<Answer> answers = new ArrayList<>();
  private Limits limits = Limits.getDefaultInstance();
  private int handed;
  private boolean closed;

  Outbox() {
    this(GATHER_MOST_NANOS);
  }

  /** One of another patience, as tests have it. */
  Outbox(long gatherMostNanos) {
    this.gatherMostNanos = gatherMostNanos;
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
    filled.signal();
    lock.unlock();
  }

  void putAnswers(List<Answer> more) {
    lock.lock();
    answers.addAll(more);
    filled.signal();
    lock.unlock();
  }

  /** Is told how many asks were handed on, and no thread has taken up yet. */
  void handed(int asks) {
    lock.lock();
    handed = asks;
    if (asks == 0) {
      taken.signal();
    }
    lock.unlock();
  }

  /** The stream may have room again. */
  void room() {
    lock.lock();
    filled.signal();
    lock.unlock();
  }

  /** The stream is over. */
  void close() {
    lock.lock();
    closed = true;
    filled.signal();
    taken.signal();
    lock.unlock();
  }

  /**
   * Waits until there is something to send, and room for it.
   *
   * @return all that is to be sent; nothing when the stream is over
   */
  List<BotMessage> next(BooleanSupplier hasRoom) throws InterruptedException {
    lock.lock();
    try {
      while (!closed && (isEmpty() || !hasRoom.getAsBoolean())) {
        filled.await();
      }
      long leftNanos = gatherMostNanos;
      while (!closed && handed > 0 && leftNanos > 0) {
        leftNanos = taken.awaitNanos(leftNanos);
      }
      if (closed) {
        return List.of();
      }
    } finally {
      lock.unlock();
    }
    Thread.yield(); // the last of them is about to answer
    return take();
  }

  /** Whether the writer waits for threads that were handed an ask. */
  boolean gathers() {
    lock.lock();
    try {
      return lock.hasWaiters(taken);
    } finally {
      lock.unlock();
    }
  }

  private boolean isEmpty() {
    return messages.isEmpty() && answers.isEmpty();
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
