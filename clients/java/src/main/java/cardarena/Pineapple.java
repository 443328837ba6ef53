// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.PineappleAsk;
import cardarena.games.v1.PineappleEvent;
import cardarena.games.v1.PineappleMove;
import cardarena.games.v1.PineappleVerb;
import cardarena.games.v1.PineappleView;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Pineapple: constructors of its moves, and a bot with its types. */
public final class Pineapple {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("pineapple");

  private static final Types<PineappleView, PineappleMove, PineappleEvent> TYPES =
      new Types<>(PineappleView.class, PineappleMove.class, PineappleEvent.class);

  private Pineapple() {}

  /** Plays one match of Pineapple. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<PineappleView, PineappleMove, PineappleEvent> {}

  /** A player of Pineapple. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<PineappleView, PineappleMove, PineappleEvent> ask(PineappleView view, PineappleMove... moves) {
    PineappleAsk.Builder body = PineappleAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setPineapple(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<PineappleView, PineappleMove, PineappleEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /** The range of a bet or raise of the seat to act; empty if it may not bet. */
  public static Optional<Bets> bets(PineappleView view) {
    return view.hasMinTo() && view.hasMaxTo()
        ? Optional.of(new Bets(view.getMinTo(), view.getMaxTo()))
        : Optional.empty();
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: give up the hand. Not allowed where checking is free. */
    public static PineappleMove fold() {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_FOLD).build();
    }

    /** The move: add nothing, as there is nothing to call. */
    public static PineappleMove check() {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_CHECK).build();
    }

    /** The move: match the bet, or go all-in below it. */
    public static PineappleMove call() {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_CALL).build();
    }

    /** The move: be the first to put chips in. */
    public static PineappleMove bet(int to) {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_BET).setTo(Checks.wholeNumber("to", to)).build();
    }

    /** The move: go beyond what is to be matched. */
    public static PineappleMove raise(int to) {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_RAISE).setTo(Checks.wholeNumber("to", to)).build();
    }

    /** The move: give up one of the own three cards. */
    public static PineappleMove discard(String card) {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_DISCARD).setCard(Checks.card(card)).build();
    }
  }
}
// spotless:on
