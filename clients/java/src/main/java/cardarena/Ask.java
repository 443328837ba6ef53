package cardarena;

import cardarena.v1.PlayedFor;
import com.google.protobuf.Message;
import java.time.Duration;
import java.util.List;

/**
 * One decision of a seat, with everything that the seat can see.
 *
 * @param <V> the game's view, such as JamView
 * @param <M> its moves
 * @param <E> its events
 */
public final class Ask<V extends Message, M extends Message, E extends Message> {
  private final cardarena.v1.Ask message;
  private final Match match;
  private final Message body;
  private final AskEvents allEvents;
  private final long dueNanos;

  // The session's lock guards these.
  volatile boolean open = true;
  boolean delivered;

  /** Of an ask that arrived now, and the events of earlier asks that the bot did not receive. */
  Ask(cardarena.v1.Ask message, Match match, AskEvents undelivered, long nowNanos) {
    this.message = message;
    this.match = match;
    this.body = GameMessages.of(message);
    this.allEvents =
        undelivered.and(
            new AskEvents(
                GameMessages.list(body, "events"),
                message.getEventTextsList(),
                message.getPlayedForList()));
    var clock = message.getClock();
    long budgetMs = (long) clock.getMoveMs() + clock.getBankMs();
    this.dueNanos = nowNanos + Duration.ofMillis(budgetMs).toNanos();
  }

  /** The arena's message. */
  public cardarena.v1.Ask message() {
    return message;
  }

  /** The match of the ask. */
  public Match match() {
    return match;
  }

  /** The number by which the arena identifies this ask. */
  public long id() {
    return message.getAskId();
  }

  /** What the seat sees now. */
  @SuppressWarnings("unchecked")
  public V view() {
    return (V) body.getField(body.getDescriptorForType().findFieldByName("view"));
  }

  /** Legal moves, at least one. If {@link #movesComplete}, these are all legal moves. */
  public List<M> moves() {
    return GameMessages.list(body, "moves");
  }

  /** Whether the offered moves are all legal moves. */
  public boolean movesComplete() {
    return (boolean) body.getField(body.getDescriptorForType().findFieldByName("moves_complete"));
  }

  /** The moves in notation, if the player requested text. */
  public List<String> moveTexts() {
    return message.getMoveTextsList();
  }

  /**
   * What happened since the bot last received an ask of this match, oldest first. This includes the
   * events of asks that the bot did not receive.
   */
  @SuppressWarnings("unchecked")
  public List<E> events() {
    return (List<E>) allEvents.events();
  }

  /** The events in notation, if the player requested text. */
  public List<String> eventTexts() {
    return allEvents.texts();
  }

  /** The moves among the events that the arena played in place of a bot at fault. */
  public List<PlayedFor> playedFor() {
    return allEvents.playedFor();
  }

  /**
   * The remaining time: the time of the move and the bank, less the time since the ask arrived.
   *
   * <p>It does not include the way from and to the arena. The message's clock has how long that and
   * the decision took last time.
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Math.max(0, dueNanos - System.nanoTime()));
  }

  /**
   * Whether the arena still waits for an answer. A bot that searches for a long time can check this
   * now and then.
   */
  public boolean isOpen() {
    return open;
  }

  /** Whether there is only one legal move. */
  boolean forced() {
    return movesComplete() && moves().size() == 1;
  }

  /** The events of this ask, after those of earlier asks that the bot did not receive. */
  AskEvents allEvents() {
    return allEvents;
  }
}
