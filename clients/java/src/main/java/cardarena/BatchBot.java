package cardarena;

import com.google.protobuf.Message;
import java.util.List;

/** Decides the moves of many matches at a time, as with a neural network; on one thread. */
@FunctionalInterface
public interface BatchBot {
  /** Chooses a move for each ask, in the same order. An exception costs them all. */
  List<Choice> moves(List<Ask<Message, Message, Message>> asks) throws Exception;

  /** Is called before the first ask of a match. */
  default void started(Match match) throws Exception {}

  /** Is called after the last ask of a match. */
  default void ended(End end) throws Exception {}
}
