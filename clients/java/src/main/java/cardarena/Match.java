package cardarena;

import cardarena.v1.MatchStart;
import cardarena.v1.Setting;
import java.util.Optional;

/**
 * A match, as the arena announced it.
 *
 * @param start the arena's message
 */
public record Match(MatchStart start) {
  /** The number by which the arena identifies this bot's seat at the match. */
  public int number() {
    return start.getMatch();
  }

  /** The game's id, such as {@code jam}. */
  public String game() {
    return start.getTerms().getGame();
  }

  /** The bot's seat, from 0. */
  public int seat() {
    return start.getSeat();
  }

  /**
   * The value of a game option: a Long, a String or a Boolean; empty if the game has no option of
   * that name.
   */
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
