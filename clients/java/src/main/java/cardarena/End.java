package cardarena;

import cardarena.v1.Ending;
import cardarena.v1.MatchEnd;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Locale;

/** The end of a match. */
public final class End {
  private final MatchEnd message;
  private final Match match;
  private final AskEvents undelivered;

  End(MatchEnd message, Match match, AskEvents undelivered) {
    this.message = message;
    this.match = match;
    this.undelivered = undelivered;
  }

  /** The arena's message. */
  public MatchEnd message() {
    return message;
  }

  /** The match that ended. */
  public Match match() {
    return match;
  }

  /** Whether the match ended while the bot was disconnected. Its result is then unknown. */
  public boolean missed() {
    return message.getEnding() == Ending.ENDING_UNSPECIFIED;
  }

  /** How the match ended: completed, forfeit, aborted or missed. */
  public String ending() {
    String name = message.getEnding().name().replaceFirst("^ENDING_", "");
    return missed() ? "missed" : name.toLowerCase(Locale.ROOT);
  }

  /** Points by seat; empty if the end was missed. */
  public List<Integer> scores() {
    return message.getScoresList();
  }

  /** What happened since the bot last received an ask, oldest first. */
  public List<Message> events() {
    List<Message> trailing = GameMessages.of(message.getTrailingEventsList());
    return undelivered.and(new AskEvents(trailing, List.of(), List.of())).events();
  }
}
