package cardarena;

import com.google.protobuf.Message;
import java.time.Duration;
import java.util.List;

/** An ask before it has the types of its game. */
final class UntypedAsk {
  private final cardarena.v1.Ask message;
  private final Match match;
  private final Message body;
  private final AskEvents allEvents;
  private final long dueNanos;

  // The session's lock guards these.
  volatile boolean open = true;
  boolean delivered;

  /** Of an ask that arrived now, and the events of earlier asks that the bot did not receive. */
  UntypedAsk(cardarena.v1.Ask message, Match match, AskEvents undelivered, long nowNanos) {
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

  cardarena.v1.Ask message() {
    return message;
  }

  Match match() {
    return match;
  }

  long id() {
    return message.getAskId();
  }

  Message view() {
    return (Message) body.getField(body.getDescriptorForType().findFieldByName("view"));
  }

  List<Message> moves() {
    return GameMessages.list(body, "moves");
  }

  boolean movesComplete() {
    return (boolean) body.getField(body.getDescriptorForType().findFieldByName("moves_complete"));
  }

  /** Whether there is only one legal move. */
  boolean forced() {
    return movesComplete() && moves().size() == 1;
  }

  /** The events of this ask, after those of earlier asks that the bot did not receive. */
  AskEvents allEvents() {
    return allEvents;
  }

  Duration timeLeft() {
    return Duration.ofNanos(Math.max(0, dueNanos - System.nanoTime()));
  }
}
