// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.SixtySixAsk;
import cardarena.games.v1.SixtySixEvent;
import cardarena.games.v1.SixtySixMove;
import cardarena.games.v1.SixtySixVerb;
import cardarena.games.v1.SixtySixView;
import java.util.List;
import java.util.function.Function;

/** Sixty Six: constructors of its moves, and a bot with its types. */
public final class SixtySix {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("sixty_six");

  private static final Types<SixtySixView, SixtySixMove, SixtySixEvent> TYPES =
      new Types<>(SixtySixView.class, SixtySixMove.class, SixtySixEvent.class);

  private SixtySix() {}

  /** Plays one match of Sixty Six. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<SixtySixView, SixtySixMove, SixtySixEvent> {}

  /** A player of Sixty Six. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<SixtySixView, SixtySixMove, SixtySixEvent> ask(SixtySixView view, SixtySixMove... moves) {
    SixtySixAsk.Builder body = SixtySixAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setSixtySix(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<SixtySixView, SixtySixMove, SixtySixEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: say that the own points are 66 or more, which ends the hand. */
    public static SixtySixMove claim() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_CLAIM).build();
    }

    /** The move: close the stock. */
    public static SixtySixMove close() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_CLOSE).build();
    }

    /** The move: take the upcard for the nine of trump. */
    public static SixtySixMove exchange() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_EXCHANGE).build();
    }

    /** The move: show king and queen of a suit before leading one of them. */
    public static SixtySixMove marriage(String suit) {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_MARRIAGE).setSuit(Checks.suit(suit)).build();
    }

    /** The move: play a card. */
    public static SixtySixMove play(String card) {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_PLAY).setCard(Checks.card(card)).build();
    }
  }
}
// spotless:on
