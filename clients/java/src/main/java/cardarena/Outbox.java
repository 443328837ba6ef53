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
 * The messages that wait to be sent on one stream.
 *
 * <p>Answers gather until the writer is free and each bot thread with a queued ask has taken it, so
 * that answers that are ready go in one message. An answer waits for a bot that is choosing a move
 * only during the first moments of its choice, in which a quick bot answers.
 */
final class Outbox {
  /**
   * The maximum time that answers wait for bot threads that have a queued ask and have not run yet.
   */
  private static final long MAX_GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The maximum time that answers wait for a bot thread after it has taken its ask. */
  private static final long QUICK_CHOICE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition taken = lock.newCondition();
  private final long maxGatherNanos;
  private final long quickChoiceNanos;
  private List<BotMessage> messages = new ArrayList<>();
  private List<Answer> answers = new ArrayList<>();
  private Limits limits = Limits.getDefaultInstance();
  private int queuedAsks;
  private int takenAsks;
  private long lastTakenNanos;
  private boolean closed;

  Outbox() {
    this(MAX_GATHER_NANOS, QUICK_CHOICE_NANOS);
  }

  /** With other maxima, for tests. */
  Outbox(long maxGatherNanos, long quickChoiceNanos) {
    this.maxGatherNanos = maxGatherNanos;
    this.quickChoiceNanos = quickChoiceNanos;
  }

  /** Sets the arena's limits. */
  void setLimits(Limits newLimits) {
    lock.lock();
    limits = newLimits;
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

  /** Sets the number of asks that no bot thread has taken yet, and of those that one has taken. */
  void setAsks(int queued, int takenAndUnanswered) {
    lock.lock();
    if (takenAndUnanswered > takenAsks) {
      lastTakenNanos = System.nanoTime();
    }
    queuedAsks = queued;
    takenAsks = takenAndUnanswered;
    if (queued == 0) {
      taken.signal();
    }
    lock.unlock();
  }

  /** Wakes the writer, because the stream may have room again. */
  void wakeWriter() {
    lock.lock();
    filled.signal();
    lock.unlock();
  }

  /** Ends the stream. */
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
   * @return the messages to send; empty when the stream has ended
   */
  List<BotMessage> next(BooleanSupplier hasRoom) throws InterruptedException {
    lock.lock();
    try {
      while (!closed && (isEmpty() || !hasRoom.getAsBoolean())) {
        filled.await();
      }
      long beganNanos = System.nanoTime();
      long leftNanos = gatherNanos(beganNanos);
      while (!closed && leftNanos > 0) {
        taken.awaitNanos(leftNanos);
        leftNanos = gatherNanos(beganNanos);
      }
      if (closed) {
        return List.of();
      }
    } finally {
      lock.unlock();
    }
    return take();
  }

  /** The time for which answers may still wait for others, at most. */
  private long gatherNanos(long beganNanos) {
    long nowNanos = System.nanoTime();
    long leftNanos = maxGatherNanos - (nowNanos - beganNanos);
    if (queuedAsks > 0) {
      return leftNanos;
    }
    if (takenAsks == 0) {
      return 0;
    }
    return Math.min(leftNanos, quickChoiceNanos - (nowNanos - lastTakenNanos));
  }

  /** Whether the writer waits for bot threads. */
  boolean isGathering() {
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

  /** Takes the waiting messages. */
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
    int max = limits.getMaxMessageBytes();
    if (max == 0 || message.getSerializedSize() <= max) {
      all.add(message);
    } else if (count > 1) {
      split(all, given, count / 2);
    } else {
      String note =
          "error: the answer has " + message.getSerializedSize() + " bytes, the limit is " + max;
      Answer first = given.get(0);
      Answer.Builder failed = Answer.newBuilder().setAskId(first.getAskId()).setFailed(true);
      all.add(message(List.of(failed.setNote(note).build())));
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
