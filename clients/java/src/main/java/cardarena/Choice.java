package cardarena;

import cardarena.v1.Answer;
import cardarena.v1.GameMove;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.Objects;

/** What a bot does: one of the offered moves by its place, or a move, offered or not. */
public final class Choice {
  private final int index;
  private final Message move;
  private final String note;

  private Choice(int index, Message move, String note) {
    this.index = index;
    this.move = move;
    this.note = note;
  }

  /** Chooses the move at a place of the ask's list, from 0. */
  public static Choice index(int place) {
    return new Choice(place, null, "");
  }

  /** Chooses a move of the ask's game. */
  public static Choice move(Message move) {
    return new Choice(0, Objects.requireNonNull(move, "move"), "");
  }

  /** The same with a note, which the bot's owner alone is shown; one that is too long is cut. */
  public Choice withNote(String words) {
    return new Choice(index, move, Objects.requireNonNull(words, "words"));
  }

  /**
   * What it stands for.
   *
   * @throws IllegalArgumentException if it is an index past the offered moves, or another game's
   */
  Answer answer(Ask<?, ?, ?> ask) {
    Answer.Builder answer = Answer.newBuilder().setAskId(ask.id()).setNote(note);
    int place = move == null ? index : ask.moves().indexOf(move);
    int offered = ask.moves().size();
    if (move == null && (place < 0 || place >= offered)) {
      throw new IllegalArgumentException(
          "there is no move " + place + ": " + offered + " are offered, from 0");
    }
    if (place >= 0) {
      return answer.setIndex(place).build();
    }
    String family = Bodies.field(ask.message()).getName();
    FieldDescriptor field = GameMove.getDescriptor().findFieldByName(family);
    if (!field.getMessageType().equals(move.getDescriptorForType())) {
      throw new IllegalArgumentException(
          "a " + move.getDescriptorForType().getName() + " is no move of " + ask.match().game());
    }
    return answer.setMove(GameMove.newBuilder().setField(field, move)).build();
  }

  /** The answer where the author's code failed. */
  static Answer failed(long askId, Throwable why) {
    return Answer.newBuilder().setAskId(askId).setIndex(0).setNote("error: " + why).build();
  }

  /** The note, ending in an ellipsis if it had to be cut to so many code points. */
  static String cut(String note, int most) {
    if (note.codePointCount(0, note.length()) <= most) {
      return note;
    }
    return note.substring(0, note.offsetByCodePoints(0, most - 1)) + "…";
  }
}
