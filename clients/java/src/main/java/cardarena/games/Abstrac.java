// Written by scripts/generate_java.py. Not to be edited: scripts/proto.
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

/** Abstrac: constructors of its moves, and a bot of its types. */
public final class Abstrac {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("abstrac");

  private Abstrac() {}

  /** Plays one match of Abstrac. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<AbstracView, AbstracMove, AbstracEvent> {}

  /** A player of Abstrac, of what makes a bot for each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(bot);
  }

  /**
   * Makes moves that are whole: each with the fields that its verb uses, and no others. What is no
   * card, no suit, less than nothing or no value of its enum is an IllegalArgumentException. Whether
   * a move is legal now, the rules say.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: say who takes first. */
    public static AbstracMove choose(AbstracOrder order) {
      return AbstracMove.newBuilder().setVerb(AbstracVerb.ABSTRAC_VERB_CHOOSE).setOrder(Checks.named("order", order)).build();
    }

    /** The move: take cards from the top. */
    public static AbstracMove take(int count) {
      return AbstracMove.newBuilder().setVerb(AbstracVerb.ABSTRAC_VERB_TAKE).setCount(Checks.whole("count", count)).build();
    }
  }
}
