// An ask as the session knows it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardarena/cardarena.hpp"
#include "cardarena/v1/play.pb.h"
#include "deal_set.hpp"
#include "game_bytes.hpp"

namespace cardarena::detail {

/// The events of one or more asks.
struct AskEvents {
  std::vector<std::string> events;
  std::vector<std::string> texts;
  std::vector<v1::PlayedFor> played_for;
};

struct AskState {
  AskState(v1::Ask given, std::shared_ptr<const Match> of, AskEvents before, Clock::time_point now);
  AskState(const AskState&) = delete;
  AskState& operator=(const AskState&) = delete;

  /// The events of this ask, after those of earlier asks that the bot did not receive.
  AskEvents all_events() const;
  bool forced() const { return body.moves.size() == 1 && body.moves_complete; }

  const v1::Ask message;
  const std::shared_ptr<const Match> match;
  const AskEvents undelivered;
  const Clock::time_point due;
  /// Parts of the message.
  const AskBody body;
  std::atomic<bool> open = true;
  /// The session's lock guards it.
  bool delivered = false;
  /// Of the bot's thread.
  std::optional<Random> random;
};

/// The match that the arena announced.
Match match_of(const v1::MatchStart& start);

/// The message that answers the ask. Throws std::invalid_argument if the index is out of range, or the move
/// is of another game.
v1::Answer answer_of(const Choice& choice, const Ask& ask);

/// The answer if the bot failed: no move, with the error as its note.
v1::Answer failed_answer(std::uint64_t ask_id, const std::string& why);

/// Shortens a note to a number of code points. A truncated note ends in an ellipsis. A byte that is not of
/// UTF-8 becomes a question mark, as a message cannot have it.
std::string truncated(const std::string& note, std::size_t max_chars);

/// The name of an enum's value in lower case, without the enum's prefix.
std::string lower_name(const std::string& name, std::string_view prefix);

}  // namespace cardarena::detail
