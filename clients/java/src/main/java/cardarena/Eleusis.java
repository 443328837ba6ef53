// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.EleusisAsk;
import cardarena.games.v1.EleusisEvent;
import cardarena.games.v1.EleusisMove;
import cardarena.games.v1.EleusisOpinion;
import cardarena.games.v1.EleusisVerb;
import cardarena.games.v1.EleusisView;
import java.util.List;
import java.util.function.Function;

/** Eleusis: constructors of its moves, and a bot with its types. */
public final class Eleusis {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("eleusis");

  private static final Types<EleusisView, EleusisMove, EleusisEvent> TYPES =
      new Types<>(EleusisView.class, EleusisMove.class, EleusisEvent.class);

  private Eleusis() {}

  /** Plays one match of Eleusis. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<EleusisView, EleusisMove, EleusisEvent> {}

  /** A player of Eleusis. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<EleusisView, EleusisMove, EleusisEvent> ask(EleusisView view, EleusisMove... moves) {
    EleusisAsk.Builder body = EleusisAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setEleusis(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<EleusisView, EleusisMove, EleusisEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: set the rule of the hand. */
    public static EleusisMove rule(String text) {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_RULE).setText(text).build();
    }

    /** The move: play cards that follow each other from left to right. */
    public static EleusisMove play(List<String> cards) {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_PLAY).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: say that no card of the hand is right, and show it. */
    public static EleusisMove noPlay() {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_NO_PLAY).build();
    }

    /** The move: judge as the prophet. */
    public static EleusisMove judge(EleusisOpinion opinion) {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_JUDGE).setOpinion(Checks.specified("opinion", opinion)).build();
    }

    /** The move: judge as the prophet. */
    public static EleusisMove judge(EleusisOpinion opinion, String card) {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_JUDGE).setOpinion(Checks.specified("opinion", opinion)).setCard(Checks.card(card)).build();
    }

    /** The move: become the prophet. */
    public static EleusisMove declare() {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_DECLARE).build();
    }

    /** The move: guess the rule. */
    public static EleusisMove guess(String text) {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_GUESS).setText(text).build();
    }

    /** The move: neither declare nor guess. */
    public static EleusisMove pass() {
      return EleusisMove.newBuilder().setVerb(EleusisVerb.ELEUSIS_VERB_PASS).build();
    }
  }
}
// spotless:on
