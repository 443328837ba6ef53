// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.OpenFaceChinesePokerAsk;
import cardarena.games.v1.OpenFaceChinesePokerEvent;
import cardarena.games.v1.OpenFaceChinesePokerMove;
import cardarena.games.v1.OpenFaceChinesePokerVerb;
import cardarena.games.v1.OpenFaceChinesePokerView;
import java.util.List;
import java.util.function.Function;

/** Open Face Chinese Poker: constructors of its moves, and a bot with its types. */
public final class OpenFaceChinesePoker {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("open_face_chinese_poker");

  private static final Types<OpenFaceChinesePokerView, OpenFaceChinesePokerMove, OpenFaceChinesePokerEvent> TYPES =
      new Types<>(OpenFaceChinesePokerView.class, OpenFaceChinesePokerMove.class, OpenFaceChinesePokerEvent.class);

  private OpenFaceChinesePoker() {}

  /** Plays one match of Open Face Chinese Poker. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<OpenFaceChinesePokerView, OpenFaceChinesePokerMove, OpenFaceChinesePokerEvent> {}

  /** A player of Open Face Chinese Poker. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<OpenFaceChinesePokerView, OpenFaceChinesePokerMove, OpenFaceChinesePokerEvent> ask(OpenFaceChinesePokerView view, OpenFaceChinesePokerMove... moves) {
    OpenFaceChinesePokerAsk.Builder body = OpenFaceChinesePokerAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setOpenFaceChinesePoker(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<OpenFaceChinesePokerView, OpenFaceChinesePokerMove, OpenFaceChinesePokerEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: put cards into rows. */
    public static OpenFaceChinesePokerMove place(List<String> front, List<String> middle, List<String> back) {
      return OpenFaceChinesePokerMove.newBuilder().setVerb(OpenFaceChinesePokerVerb.OPEN_FACE_CHINESE_POKER_VERB_PLACE).addAllFront(Checks.cards(front)).addAllMiddle(Checks.cards(middle)).addAllBack(Checks.cards(back)).build();
    }
  }
}
// spotless:on
