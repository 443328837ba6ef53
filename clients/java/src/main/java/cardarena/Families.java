package cardarena;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The families of games: the name of their field in oneof game, and the ids of their games. */
final class Families {
  private static final Map<String, List<String>> GAMES = new LinkedHashMap<>();

  static {
    GAMES.put(
        "abstrac", List.of("abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"));
    GAMES.put("democracy", List.of("democracy"));
    GAMES.put("chinese_poker", List.of("chinese_poker"));
    GAMES.put("arlington", List.of("arlington"));
    GAMES.put("jam", List.of("jam"));
    GAMES.put("klaberjass", List.of("klaberjass"));
    GAMES.put("sixty_six", List.of("sixty_six"));
    GAMES.put("loo", List.of("loo"));
    GAMES.put("oklahoma_rummy", List.of("oklahoma_rummy"));
    GAMES.put("soko", List.of("soko"));
    GAMES.put("pineapple", List.of("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"));
    GAMES.put("open_face_chinese_poker", List.of("open_face_chinese_poker"));
    GAMES.put("eleusis", List.of("eleusis", "eleusis_express"));
  }

  private Families() {}

  /** The ids of all games that this SDK supports. */
  static List<String> allGames() {
    return GAMES.values().stream().flatMap(List::stream).toList();
  }

  /** The ids of a family's games. The name is that of its field in oneof game. */
  static List<String> games(String family) {
    return GAMES.get(family);
  }
}
