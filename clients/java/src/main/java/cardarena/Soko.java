// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.SokoAsk;
import cardarena.games.v1.SokoEvent;
import cardarena.games.v1.SokoMove;
import cardarena.games.v1.SokoVerb;
import cardarena.games.v1.SokoView;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Soko: constructors of its moves, and a bot with its types. */
public final class Soko {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("soko");

  private static final Types<SokoView, SokoMove, SokoEvent> TYPES =
      new Types<>(SokoView.class, SokoMove.class, SokoEvent.class);

  private Soko() {}

  /** Plays one match of Soko. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<SokoView, SokoMove, SokoEvent> {}

  /** A player of Soko. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<SokoView, SokoMove, SokoEvent> ask(SokoView view, SokoMove... moves) {
    SokoAsk.Builder body = SokoAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setSoko(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<SokoView, SokoMove, SokoEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /** The range of a bet or raise of the seat to act; empty if it may not bet. */
  public static Optional<Bets> bets(SokoView view) {
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

    /** The move: open the first round. */
    public static SokoMove bringIn(int to) {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_BRING_IN).setTo(Checks.wholeNumber("to", to)).build();
    }

    /** The move: give up the hand. Not allowed where checking is free. */
    public static SokoMove fold() {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_FOLD).build();
    }

    /** The move: add nothing, as there is nothing to call. */
    public static SokoMove check() {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_CHECK).build();
    }

    /** The move: match the bet, or go all-in below it. */
    public static SokoMove call() {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_CALL).build();
    }

    /** The move: be the first to put chips in. */
    public static SokoMove bet(int to) {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_BET).setTo(Checks.wholeNumber("to", to)).build();
    }

    /** The move: go beyond what is to be matched. */
    public static SokoMove raise(int to) {
      return SokoMove.newBuilder().setVerb(SokoVerb.SOKO_VERB_RAISE).setTo(Checks.wholeNumber("to", to)).build();
    }
  }
}
// spotless:on
