/** The families of games: the name of their field in oneof game, and the ids of their games. */
const FAMILIES: readonly (readonly [string, readonly string[]])[] = [
  ["abstrac", ["abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"]],
  ["democracy", ["democracy"]],
  ["chinese_poker", ["chinese_poker"]],
  ["arlington", ["arlington"]],
  ["jam", ["jam"]],
  ["klaberjass", ["klaberjass"]],
  ["sixty_six", ["sixty_six"]],
  ["loo", ["loo"]],
  ["oklahoma_rummy", ["oklahoma_rummy"]],
  ["soko", ["soko"]],
  ["pineapple", ["pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"]],
  ["open_face_chinese_poker", ["open_face_chinese_poker"]],
  ["eleusis", ["eleusis", "eleusis_express"]],
];

/** The ids of all games that this SDK supports. */
export const ALL_GAMES: readonly string[] = FAMILIES.flatMap(([, games]) => games);

/** The ids of a family's games. The name is that of its field in oneof game. */
export function gamesOf(name: string): readonly string[] {
  return FAMILIES.find(([family]) => family === name)?.[1] ?? [];
}
