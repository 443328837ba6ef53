package cardarena;

import cardarena.v1.PlayedFor;
import com.google.protobuf.Message;
import java.time.Duration;
import java.util.List;

/**
 * One decision of one seat, with everything that the seat may know.
 *
 * @param <V> the game's view, as JamView
 * @param <M> its moves
 * @param <E> its events
 */
public final class Ask<V extends Message, M extends Message, E extends Message> {
  private final cardarena.v1.Ask message;
  private final Match match;
  private final Message body;
  private final Told told;
  private final long dueNanos;

  // The session's, under its lock.
  volatile boolean open = true;
  boolean shown;

  /** Of an ask that came at a time, and what was told before it and not given to the bot. */
  Ask(cardarena.v1.Ask message, Match match, Told before, long nowNanos) {
    this.message = message;
    this.match = match;
    this.body = Bodies.of(message);
    this.told =
        before.and(
            new Told(
                Bodies.list(body, "events"),
                message.getEventTextsList(),
                message.getPlayedForList()));
    var clock = message.getClock();
    long budgetMs = (long) clock.getMoveMs() + clock.getBankMs();
    this.dueNanos = nowNanos + Duration.ofMillis(budgetMs).toNanos();
  }

  /** The arena's own message. */
  public cardarena.v1.Ask message() {
    return message;
  }

  /** The match that it belongs to. */
  public Match match() {
    return match;
  }

  /** The arena's number of this ask. */
  public long id() {
    return message.getAskId();
  }

  /** What the seat sees now. */
  @SuppressWarnings("unchecked")
  public V view() {
    return (V) body.getField(body.getDescriptorForType().findFieldByName("view"));
  }

  /** Legal moves, never none; all of them if {@code movesComplete}. */
  public List<M> moves() {
    return Bodies.list(body, "moves");
  }

  /** Whether the rules allow no other moves than those offered. */
  public boolean movesComplete() {
    return (boolean) body.getField(body.getDescriptorForType().findFieldByName("moves_complete"));
  }

  /** The moves in notation, if the player wants text. */
  public List<String> moveTexts() {
    return message.getMoveTextsList();
  }

  /**
   * What happened since the bot was last given an ask of this match, oldest first. Events of asks
   * that the bot never saw are among them.
   */
  @SuppressWarnings("unchecked")
  public List<E> events() {
    return (List<E>) told.events();
  }

  /** The events in notation, if the player wants text. */
  public List<String> eventTexts() {
    return told.texts();
  }

  /** Moves among the events that the arena played for a bot at fault. */
  public List<PlayedFor> playedFor() {
    return told.playedFor();
  }

  /**
   * What is left of the move's time and the bank since the ask came. The way to the arena is not in
   * it: the message's clock tells how long that and the thinking took last time.
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Math.max(0, dueNanos - System.nanoTime()));
  }

  /** Whether the answer is still wanted. Who thinks for long may look now and then. */
  public boolean wanted() {
    return open;
  }

  boolean forced() {
    return movesComplete() && moves().size() == 1;
  }

  Told told() {
    return told;
  }
}
