// Written by scripts/generate_java.py. Not to be edited: scripts/proto.
package cardarena.games;

import cardarena.Checks;
import cardarena.Families;
import cardarena.Match;
import cardarena.Player;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamSource;
import cardarena.games.v1.JamVerb;
import cardarena.games.v1.JamView;
import java.util.List;
import java.util.function.Function;

/** Jam: constructors of its moves, and a bot of its types. */
public final class Jam {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("jam");

  private Jam() {}

  /** Plays one match of Jam. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<JamView, JamMove, JamEvent> {}

  /** A player of Jam, of what makes a bot for each match. */
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

    /** The move: play a card to the trick. */
    public static JamMove play(String card) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_PLAY).setCard(Checks.card(card)).build();
    }

    /** The move: draw a card. */
    public static JamMove draw(JamSource source) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_DRAW).setSource(Checks.named("source", source)).build();
    }

    /** The move: put a card on the own discard pile. */
    public static JamMove discard(String card) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_DISCARD).setCard(Checks.card(card)).build();
    }
  }
}
