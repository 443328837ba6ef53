package cardarena;

import cardarena.v1.Answer;
import cardarena.v1.GameMove;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * A bot's answer to an ask: an offered move, or a move; and an optional note. An ask's method
 * {@code choose} makes it.
 *
 * @param <M> the moves of the ask's game, such as JamMove
 */
public final class Choice<M extends Message> {
  private final int index;
  private final M move;
  private final String note;

  private Choice(int index, M move, String note) {
    this.index = index;
    this.move = move;
    this.note = note;
  }

  static <M extends Message> Choice<M> index(int index) {
    return new Choice<>(index, null, "");
  }

  static <M extends Message> Choice<M> move(M move) {
    return new Choice<>(0, move, "");
  }

  /**
   * Adds a note, which only the bot's owner can read. A note over the arena's limit is truncated.
   */
  public Choice<M> withNote(String text) {
    return new Choice<>(index, move, Objects.requireNonNull(text, "text"));
  }

  /**
   * The message that answers the ask.
   *
   * @throws IllegalArgumentException if the index is out of range, or the move is of another game
   */
  Answer answer(UntypedAsk ask) {
    Answer.Builder answer = Answer.newBuilder().setAskId(ask.id()).setNote(note);
    int found = move == null ? index : ask.moves().indexOf(move);
    int offered = ask.moves().size();
    if (move == null && (found < 0 || found >= offered)) {
      throw new IllegalArgumentException(
          "move index " + found + " is out of range: " + offered + " moves are offered");
    }
    if (found >= 0) {
      return answer.setIndex(found).build();
    }
    String family = GameMessages.field(ask.message()).getName();
    FieldDescriptor field = GameMove.getDescriptor().findFieldByName(family);
    if (!field.getMessageType().equals(move.getDescriptorForType())) {
      throw new IllegalArgumentException(
          "a " + move.getDescriptorForType().getName() + " is not a move of " + ask.match().game());
    }
    return answer.setMove(GameMove.newBuilder().setField(field, move)).build();
  }

  /** The answer if the bot failed: no move, with the error as its note. */
  static Answer failedAnswer(long askId, Throwable why) {
    return Answer.newBuilder().setAskId(askId).setFailed(true).setNote("error: " + why).build();
  }

  /**
   * Truncates a note to a number of code points. A truncated note ends in an ellipsis. Half a
   * surrogate pair becomes a question mark, as UTF-8 cannot have it.
   */
  static String truncate(String text, int maxChars) {
    String note = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    if (note.codePointCount(0, note.length()) <= maxChars) {
      return note;
    }
    return note.substring(0, note.offsetByCodePoints(0, maxChars - 1)) + "…";
  }
}
