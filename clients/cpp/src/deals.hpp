// All fair deals of a bot, by protocol fd2 of docs/fair-deals.md: it commits, reveals and checks.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cardarena/v1/play.pb.h"
#include "receipts.hpp"

namespace cardarena::detail {

/// What to do about a message of the arena.
struct Reaction {
  std::vector<v1::BotMessage> send;
  /// Lines for the log.
  std::vector<std::string> warnings;
};

/// The session calls it with its lock held.
class Deals {
 public:
  /// Without a folder, the bot stores no receipts.
  explicit Deals(std::optional<ReceiptFolder> receipts);

  /// Starts a new stream. The arena announces on it which matches are in play.
  void on_stream();
  /// Commits to entropy for a deal-set.
  Reaction on_open(const v1::DealOpen& message, Clock::time_point now);
  /// Checks the transcript, and reveals the bot's entropy if it is right.
  Reaction on_transcript(const v1::DealTranscript& message, Clock::time_point now);
  /// Checks the opening of a deal-set that is over.
  Reaction on_close(const v1::DealClose& message);
  Reaction on_match_start(const v1::MatchStart& start);
  /// Adds an ask to the chain of its match. `body` is the game's message, empty without one.
  Reaction on_ask(const v1::Ask& ask, std::string_view body);
  /// Completes the chain of a match with the events that came with its end.
  Reaction on_match_end(const v1::MatchEnd& end);

  /// What the arena lied about, one sentence each.
  const std::vector<std::string>& lies() const { return lies_; }

 private:
  DealSet* find(const std::string& context, const std::string& participant);
  AskChain* chain_of(std::uint32_t match);
  DealSet& remember(DealSet deal);
  void close(const std::string& context);
  void store(Reaction& reaction, const DealSet& deal) const;
  void lie(Reaction& reaction, const std::string& context, const std::string& what);

  std::vector<std::string> lies_;
  std::optional<ReceiptFolder> receipts_;
  /// The deal-sets in play, by context.
  std::map<std::string, DealSet> open_;
  std::deque<std::string> open_oldest_first_;
  /// The contexts of deal-sets that are over.
  std::set<std::string> closed_;
  std::deque<std::string> closed_oldest_first_;
  /// The context of each match in play.
  std::map<std::uint32_t, std::string> contexts_;
  /// The matches that the arena announced on the current stream.
  std::set<std::uint32_t> announced_;
};

}  // namespace cardarena::detail
