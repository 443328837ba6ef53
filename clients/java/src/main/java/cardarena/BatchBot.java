package cardarena;

import com.google.protobuf.Message;
import java.util.List;

/**
 * Chooses the moves of many matches at a time, for example with a neural network. One thread calls
 * it.
 */
@FunctionalInterface
public interface BatchBot {
  /** Chooses a move for each ask, in the same order. An exception loses all these moves. */
  List<Choice<Message>> moves(List<Ask<Message, Message, Message>> asks) throws Exception;

  /** Called before the first ask of a match. */
  default void started(Match match) throws Exception {}

  /** Called after the last ask of a match. */
  default void ended(End end) throws Exception {}
}
