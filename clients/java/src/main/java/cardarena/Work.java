package cardarena;

import com.google.protobuf.Message;

/** What waits for the author's code. */
sealed interface Work {
  /** The match that it is of. */
  Match match();

  /** A match began. */
  record Started(Match match) implements Work {}

  /** An ask came. */
  record Asked(Ask<Message, Message, Message> ask) implements Work {
    @Override
    public Match match() {
      return ask.match();
    }
  }

  /** A match ended. */
  record Ended(End end) implements Work {
    @Override
    public Match match() {
      return end.match();
    }
  }
}
