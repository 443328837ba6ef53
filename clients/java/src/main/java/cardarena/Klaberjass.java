// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.KlaberjassAsk;
import cardarena.games.v1.KlaberjassEvent;
import cardarena.games.v1.KlaberjassMove;
import cardarena.games.v1.KlaberjassVerb;
import cardarena.games.v1.KlaberjassView;
import java.util.List;
import java.util.function.Function;

/** Klaberjass: constructors of its moves, and a bot with its types. */
public final class Klaberjass {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("klaberjass");

  private static final Types<KlaberjassView, KlaberjassMove, KlaberjassEvent> TYPES =
      new Types<>(KlaberjassView.class, KlaberjassMove.class, KlaberjassEvent.class);

  private Klaberjass() {}

  /** Plays one match of Klaberjass. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<KlaberjassView, KlaberjassMove, KlaberjassEvent> {}

  /** A player of Klaberjass. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<KlaberjassView, KlaberjassMove, KlaberjassEvent> ask(KlaberjassView view, KlaberjassMove... moves) {
    KlaberjassAsk.Builder body = KlaberjassAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setKlaberjass(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<KlaberjassView, KlaberjassMove, KlaberjassEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: make the suit of the upcard trump. */
    public static KlaberjassMove take() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_TAKE).build();
    }

    /** The move: let the other seat bid. */
    public static KlaberjassMove pass() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_PASS).build();
    }

    /** The move: offer to throw the hand in; if refused, make trump oneself. */
    public static KlaberjassMove schmeiss() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_SCHMEISS).build();
    }

    /** The move: accept the schmeiss. */
    public static KlaberjassMove yes() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_YES).build();
    }

    /** The move: refuse the schmeiss. */
    public static KlaberjassMove no() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_NO).build();
    }

    /** The move: make a suit trump. */
    public static KlaberjassMove name(String suit) {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_NAME).setSuit(Checks.suit(suit)).build();
    }

    /** The move: leave the upcard. */
    public static KlaberjassMove keep() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_KEEP).build();
    }

    /** The move: take the upcard for the seven of trump. */
    public static KlaberjassMove exchange() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_EXCHANGE).build();
    }

    /** The move: announce no sequence. */
    public static KlaberjassMove noMeld() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_NO_MELD).build();
    }

    /** The move: announce the best sequence. */
    public static KlaberjassMove announce(int value) {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_ANNOUNCE).setValue(Checks.wholeNumber("value", value)).build();
    }

    /** The move: let the announcement stand. */
    public static KlaberjassMove good() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_GOOD).build();
    }

    /** The move: answer a twenty with a fifty. */
    public static KlaberjassMove notGood() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_NOT_GOOD).build();
    }

    /** The move: answer with the same value. */
    public static KlaberjassMove howHigh() {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_HOW_HIGH).build();
    }

    /** The move: play a card. */
    public static KlaberjassMove play(String card, boolean bela) {
      return KlaberjassMove.newBuilder().setVerb(KlaberjassVerb.KLABERJASS_VERB_PLAY).setCard(Checks.card(card)).setBela(bela).build();
    }
  }
}
// spotless:on
