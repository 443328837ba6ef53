#include <algorithm>
#include <array>
#include <utility>

#include "cardarena/cardarena.hpp"

namespace cardarena {

namespace {

/// The name of each family's field in oneof game, and the ids of its games.
const std::vector<std::pair<std::string_view, std::vector<std::string>>> families = {
    {"abstrac", {"abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"}},
    {"democracy", {"democracy"}},
    {"chinese_poker", {"chinese_poker"}},
    {"arlington", {"arlington"}},
    {"jam", {"jam"}},
    {"klaberjass", {"klaberjass"}},
    {"sixty_six", {"sixty_six"}},
    {"loo", {"loo"}},
    {"oklahoma_rummy", {"oklahoma_rummy"}},
    {"soko", {"soko"}},
    {"pineapple", {"pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"}},
    {"open_face_chinese_poker", {"open_face_chinese_poker"}},
    {"eleusis", {"eleusis", "eleusis_express"}},
};

}  // namespace

std::vector<std::string> all_games() {
  std::vector<std::string> all;
  for (const auto& [name, games] : families) {
    all.insert(all.end(), games.begin(), games.end());
  }
  return all;
}

std::vector<std::string> games_of(std::string_view family) {
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const auto& each) { return each.first == family; });
  return found == families.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace cardarena
