package cardarena;

import com.google.protobuf.Message;

/**
 * Plays one match: there is one for each, so that its fields are that match's. It is called on a
 * thread of the match.
 *
 * @param <V> the game's view, as JamView
 * @param <M> its moves
 * @param <E> its events
 */
@FunctionalInterface
public interface Bot<V extends Message, M extends Message, E extends Message> {
  /**
   * Chooses a move. It may block and think for as long as it likes. An exception costs the move and
   * not the match: it is logged, the first move offered is played, and a note says so.
   */
  Choice move(Ask<V, M, E> ask) throws Exception;

  /** Is told the end of the match, once, also if it was missed. */
  default void ended(End end) throws Exception {}
}
