// Reads the messages of games without knowing the game: their fields have the same numbers in all games.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cardarena/v1/play.pb.h"

namespace cardarena::detail {

/// The game's message in an ask.
struct AskBody {
  /// The number of its field in oneof game; 0 if this SDK does not know the game.
  int field = 0;
  std::string_view bytes;
  std::vector<std::string_view> events;
  std::vector<std::string_view> moves;
  bool moves_complete = false;
};

/// Parts of the ask's bytes, which must outlive them.
AskBody body_of(const v1::Ask& ask);

/// The bytes of the events that came with the end of a match, oldest first.
std::vector<std::string> bytes_of_events(const v1::MatchEnd& end);

}  // namespace cardarena::detail
