// What a bot knows of a deal-set. A receipt stores it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hashes.hpp"

namespace cardarena::detail {

using Clock = std::chrono::steady_clock;

/// A hash chain over the asks that the bot received in one match.
struct AskChain {
  std::uint32_t match_number = 0;
  std::string game;
  std::uint32_t seat = 0;
  std::string match_id;
  /// After the last ask.
  std::string hash = std::string(hash_bytes, '\0');
  /// Each decision with the first 8 hexadecimal digits of the hash after it.
  std::vector<std::pair<std::uint32_t, std::string>> links;
  /// Of the events that came with the end of the match; empty before.
  std::string end_sha256;
  /// Of the payload of the last ask.
  std::string last_sha256;
};

/// What the arena publishes when a deal-set is over, by participant.
struct Opening {
  std::string deal;
  std::string secret;
  ByParticipant commitments;
  ByParticipant entropies;
  ByParticipant salts;

  std::string transcript() const {
    return transcript_of(deal, digest("server-commit", {deal, secret}), commitments);
  }
};

struct DealSet {
  /// Identifies the deal-set to this bot.
  std::string context;
  /// Of the arena, to its secret.
  std::string server_commitment;
  std::string participant;
  /// Empty if another process of this bot committed to it.
  std::string entropy;
  /// That the arena already has, if entropy is empty.
  std::string prior_commitment;
  /// When the time to commit ends.
  Clock::time_point due;
  /// The bot's commitment in the arena's transcript; empty before.
  std::string shown_commitment;
  std::string seal;
  std::string public_key;
  std::string signature;
  /// Whether the bot keeps its entropy to itself because the arena lied.
  bool refused = false;
  std::optional<Opening> opening;
  std::string void_reason;
  std::vector<std::string> lies;
  /// In the order in which the matches started.
  std::vector<AskChain> chains;

  AskChain* chain(std::uint32_t match) {
    for (auto& each : chains) {
      if (each.match_number == match) {
        return &each;
      }
    }
    return nullptr;
  }

  std::string commitment() const {
    return entropy.empty() ? prior_commitment : commitment_of(context, participant, entropy);
  }

  /// Whether the transcript includes the bot's entropy.
  bool takes_part() const { return !entropy.empty() && shown_commitment == commitment(); }

  /// The hash over everything that the bot saw before it revealed its entropy; empty before.
  std::string transcript() const {
    return shown_commitment.empty()
               ? ""
               : view_transcript_of(context, server_commitment, participant, shown_commitment, seal);
  }

  /// The key from which all packs are derived; empty before the opening, and if the deal-set is void.
  std::string key() const {
    return shown_commitment.empty() || !opening || !void_reason.empty()
               ? ""
               : key_of(opening->transcript(), opening->secret, opening->entropies);
  }
};

/// The name of a deal-set in messages.
inline std::string deal_name(std::string_view context) { return to_hex(context).substr(0, 12); }

}  // namespace cardarena::detail
