// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.ChinesePokerAsk;
import cardarena.games.v1.ChinesePokerEvent;
import cardarena.games.v1.ChinesePokerMove;
import cardarena.games.v1.ChinesePokerVerb;
import cardarena.games.v1.ChinesePokerView;
import java.util.List;
import java.util.function.Function;

/** Chinese Poker: constructors of its moves, and a bot with its types. */
public final class ChinesePoker {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("chinese_poker");

  private static final Types<ChinesePokerView, ChinesePokerMove, ChinesePokerEvent> TYPES =
      new Types<>(ChinesePokerView.class, ChinesePokerMove.class, ChinesePokerEvent.class);

  private ChinesePoker() {}

  /** Plays one match of Chinese Poker. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<ChinesePokerView, ChinesePokerMove, ChinesePokerEvent> {}

  /** A player of Chinese Poker. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<ChinesePokerView, ChinesePokerMove, ChinesePokerEvent> ask(ChinesePokerView view, ChinesePokerMove... moves) {
    ChinesePokerAsk.Builder body = ChinesePokerAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setChinesePoker(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<ChinesePokerView, ChinesePokerMove, ChinesePokerEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: set the cards. */
    public static ChinesePokerMove set(List<String> front, List<String> middle, List<String> back) {
      return ChinesePokerMove.newBuilder().setVerb(ChinesePokerVerb.CHINESE_POKER_VERB_SET).addAllFront(Checks.cards(front)).addAllMiddle(Checks.cards(middle)).addAllBack(Checks.cards(back)).build();
    }

    /** The move: show the highest natural of the hand instead. */
    public static ChinesePokerMove declareNatural() {
      return ChinesePokerMove.newBuilder().setVerb(ChinesePokerVerb.CHINESE_POKER_VERB_DECLARE_NATURAL).build();
    }

    /** The move: stand by the setting. */
    public static ChinesePokerMove play() {
      return ChinesePokerMove.newBuilder().setVerb(ChinesePokerVerb.CHINESE_POKER_VERB_PLAY).build();
    }

    /** The move: give up for two units to each opponent without a natural. */
    public static ChinesePokerMove surrender() {
      return ChinesePokerMove.newBuilder().setVerb(ChinesePokerVerb.CHINESE_POKER_VERB_SURRENDER).build();
    }
  }
}
// spotless:on
