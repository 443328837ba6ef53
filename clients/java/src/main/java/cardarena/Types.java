package cardarena;

import com.google.protobuf.Message;
import java.util.List;

/**
 * The classes of a game's messages.
 *
 * @param <V> the game's view, such as JamView
 * @param <M> its moves
 * @param <E> its events
 */
record Types<V extends Message, M extends Message, E extends Message>(
    Class<V> view, Class<M> move, Class<E> event) {
  /** Of a bot that plays every game. */
  static final Types<Message, Message, Message> ANY =
      new Types<>(Message.class, Message.class, Message.class);

  /**
   * The messages by their class.
   *
   * @throws ClassCastException if they are of another game
   */
  static <T extends Message> List<T> cast(List<? extends Message> messages, Class<T> type) {
    return messages.stream().map(type::cast).toList();
  }
}
