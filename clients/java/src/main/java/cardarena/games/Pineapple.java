// Written by scripts/generate_java.py. Not to be edited: scripts/proto.
package cardarena.games;

import cardarena.Bets;
import cardarena.Checks;
import cardarena.Families;
import cardarena.Match;
import cardarena.Player;
import cardarena.games.v1.PineappleEvent;
import cardarena.games.v1.PineappleMove;
import cardarena.games.v1.PineappleVerb;
import cardarena.games.v1.PineappleView;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Pineapple: constructors of its moves, and a bot of its types. */
public final class Pineapple {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("pineapple");

  private Pineapple() {}

  /** Plays one match of Pineapple. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<PineappleView, PineappleMove, PineappleEvent> {}

  /** A player of Pineapple, of what makes a bot for each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(bot);
  }

  /** What a bet or raise of the seat to act may come to; empty if it may make none. */
  public static Optional<Bets> bets(PineappleView view) {
    return view.hasMinTo() && view.hasMaxTo()
        ? Optional.of(new Bets(view.getMinTo(), view.getMaxTo()))
        : Optional.empty();
  }

  /**
   * Makes moves that are whole: each with the fields that its verb uses, and no others. What is no
   * card, no suit, less than nothing or no value of its enum is an IllegalArgumentException. Whether
   * a move is legal now, the rules say.
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
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_BET).setTo(Checks.whole("to", to)).build();
    }

    /** The move: go beyond what is to be matched. */
    public static PineappleMove raise(int to) {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_RAISE).setTo(Checks.whole("to", to)).build();
    }

    /** The move: give up one of the own three cards. */
    public static PineappleMove discard(String card) {
      return PineappleMove.newBuilder().setVerb(PineappleVerb.PINEAPPLE_VERB_DISCARD).setCard(Checks.card(card)).build();
    }
  }
}
