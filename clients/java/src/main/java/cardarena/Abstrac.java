// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.AbstracAsk;
import cardarena.games.v1.AbstracEvent;
import cardarena.games.v1.AbstracMove;
import cardarena.games.v1.AbstracOrder;
import cardarena.games.v1.AbstracVerb;
import cardarena.games.v1.AbstracView;
import java.util.List;
import java.util.function.Function;

/** Abstrac: constructors of its moves, and a bot with its types. */
public final class Abstrac {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("abstrac");

  private static final Types<AbstracView, AbstracMove, AbstracEvent> TYPES =
      new Types<>(AbstracView.class, AbstracMove.class, AbstracEvent.class);

  private Abstrac() {}

  /** Plays one match of Abstrac. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<AbstracView, AbstracMove, AbstracEvent> {}

  /** A player of Abstrac. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<AbstracView, AbstracMove, AbstracEvent> ask(AbstracView view, AbstracMove... moves) {
    AbstracAsk.Builder body = AbstracAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setAbstrac(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<AbstracView, AbstracMove, AbstracEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: say who takes first. */
    public static AbstracMove choose(AbstracOrder order) {
      return AbstracMove.newBuilder().setVerb(AbstracVerb.ABSTRAC_VERB_CHOOSE).setOrder(Checks.specified("order", order)).build();
    }

    /** The move: take cards from the top. */
    public static AbstracMove take(int count) {
      return AbstracMove.newBuilder().setVerb(AbstracVerb.ABSTRAC_VERB_TAKE).setCount(Checks.wholeNumber("count", count)).build();
    }
  }
}
// spotless:on
