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
  private final Told before;

  End(MatchEnd message, Match match, Told before) {
    this.message = message;
    this.match = match;
    this.before = before;
  }

  /** The arena's own message. */
  public MatchEnd message() {
    return message;
  }

  /** The match that has ended. */
  public Match match() {
    return match;
  }

  /** Whether the match ended while the bot was cut off, so that its result is not known. */
  public boolean missed() {
    return message.getEnding() == Ending.ENDING_UNSPECIFIED;
  }

  /** How it ended, as a word: completed, forfeit, aborted or missed. */
  public String how() {
    String name = message.getEnding().name().replaceFirst("^ENDING_", "");
    return missed() ? "missed" : name.toLowerCase(Locale.ROOT);
  }

  /** Points, by seat; none if the end was missed. */
  public List<Integer> scores() {
    return message.getScoresList();
  }

  /** What happened since the bot was last given an ask, oldest first. */
  public List<Message> events() {
    List<Message> trailing = Bodies.of(message.getTrailingEventsList());
    return before.and(new Told(trailing, List.of(), List.of())).events();
  }
}
