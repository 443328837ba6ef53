// Generated from proto/ by scripts/proto: do not edit.
package cardarena.games;

import cardarena.Checks;
import cardarena.Families;
import cardarena.Match;
import cardarena.Player;
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

  private Abstrac() {}

  /** Plays one match of Abstrac. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<AbstracView, AbstracMove, AbstracEvent> {}

  /** A player of Abstrac. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(bot);
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
