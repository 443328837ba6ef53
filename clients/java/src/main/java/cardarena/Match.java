package cardarena;

import cardarena.v1.MatchStart;
import cardarena.v1.Setting;
import java.util.Optional;

/**
 * A match as the arena announced it.
 *
 * @param start the arena's own message
 */
public record Match(MatchStart start) {
  /** The arena's number of this seat at the match. */
  public int number() {
    return start.getMatch();
  }

  /** The game's id, as {@code jam}. */
  public String game() {
    return start.getTerms().getGame();
  }

  /** The bot's own seat, from 0. */
  public int seat() {
    return start.getSeat();
  }

  /** An option of the game: a Long, a String or a Boolean; empty if there is none of the name. */
  public Optional<Object> option(String name) {
    return start.getTerms().getOptionsList().stream()
        .filter(setting -> setting.getName().equals(name))
        .findFirst()
        .map(Match::value);
  }

  private static Object value(Setting setting) {
    return switch (setting.getValueCase()) {
      case TEXT -> setting.getText();
      case FLAG -> setting.getFlag();
      default -> setting.getNumber();
    };
  }
}
