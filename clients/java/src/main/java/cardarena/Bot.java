package cardarena;

import com.google.protobuf.Message;

/**
 * Plays one match. Each match has a bot of its own, so its fields belong to that match. A thread of
 * the match calls it.
 *
 * @param <V> the game's view, such as JamView
 * @param <M> its moves
 * @param <E> its events
 */
@FunctionalInterface
public interface Bot<V extends Message, M extends Message, E extends Message> {
  /**
   * Chooses a move.
   *
   * <p>It may block as long as it likes. An exception loses the move, not the match: the SDK logs
   * it with the ask, answers that the bot failed, and says so in the note.
   */
  Choice<M> move(Ask<V, M, E> ask) throws Exception;

  /** Called once when the match ends, also if the bot missed the end. */
  default void ended(End end) throws Exception {}
}
