// The state of a bot at the arena, across all its streams.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ask_state.hpp"
#include "ask_times.hpp"
#include "deals.hpp"
#include "outbox.hpp"

namespace cardarena::detail {

using MatchPointer = std::shared_ptr<const Match>;
using AskPointer = std::shared_ptr<AskState>;

/// A call of the bot that is due.
struct Started {
  MatchPointer match;
};
struct Asked {
  AskPointer ask;
};
struct Ended {
  MatchPointer match;
  End end;
};
using BotTask = std::variant<Started, Asked, Ended>;

/// What to do about a message of the arena.
struct Received {
  /// Lines for the log.
  std::vector<std::string> warnings;
  bool welcomed = false;
  /// Where the arena sends the bot; empty if nowhere.
  std::string redirect;
  /// Why the bot cannot play at this arena; empty if it can.
  std::string refused;
};

/// It reads no socket, and does not call the bot.
///
/// An ask is queued, then delivered to the bot, then answered. The arena can settle it at any time. The arena
/// does not acknowledge answers. The session therefore keeps an answer until the next ask of the match: if
/// the arena repeats the ask, the session repeats the answer and does not call the bot again.
class Session {
 public:
  /// The contract version that this SDK supports.
  static constexpr std::uint32_t contract = 1;

  /// `hello` is the first message of each stream. Without deals, the bot takes no part in fair deals.
  Session(v1::Hello hello, bool ask_forced, std::optional<Deals> deals, std::function<void(BotTask)> tasks);

  // The connection calls these.

  /// Starts a stream, whose first message is hello.
  void stream_opened(std::shared_ptr<Outbox> out);
  /// Ends the stream, and returns whether the arena was shutting down. Open asks stay open until the next
  /// welcome.
  bool stream_lost();
  /// Ends play: no stream follows. Matches in play are missed.
  void finish();
  Received receive(const v1::ArenaMessage& message, Clock::time_point now);
  /// What the arena lied about, one sentence each.
  std::vector<std::string> lies() const;
  /// The games of the matches in play, oldest first.
  std::vector<std::string> games() const;

  // The bot runner calls these.

  /// Marks a queued ask as delivered, right before the call of the bot. It returns false if the ask is
  /// settled or was delivered before: the bot must not be called then.
  bool deliver(AskState& ask, Clock::time_point now);
  /// Keeps the answers to delivered asks and sends them. A second answer to an ask is dropped. Without a
  /// stream nothing is sent: the next welcome repeats the open asks.
  void answer(std::vector<v1::Answer> answers, Clock::time_point now);

 private:
  /// The bot's seat at a match.
  struct Seat {
    MatchPointer match;
    std::string start;
    /// The last ask, open or not; null before.
    AskPointer ask;
    /// The answer to the last ask.
    std::optional<v1::Answer> answer;
    AskTimes times;

    /// The events that the bot did not receive.
    AskEvents undelivered() const {
      return ask == nullptr || ask->delivered ? AskEvents{} : ask->all_events();
    }
  };

  void react(Received& received, Reaction reaction);
  void send(std::vector<v1::Answer> answers);
  v1::Answer with_short_note(v1::Answer answer) const;
  void on_welcome(Received& received, const v1::Welcome& welcome, Clock::time_point now);
  void on_match_start(Received& received, const v1::MatchStart& start);
  template <class Asks>
  void on_asks(Received& received, const Asks& asks, Clock::time_point now);
  void on_new_ask(Seat& seat, AskPointer ask, Clock::time_point now);
  void reopen(Seat& seat);
  void on_ask_closed(Received& received, const v1::AskClosed& closed);
  void on_match_end(Received& received, const v1::MatchEnd& end);
  void missed(Received& received, std::uint32_t match);
  void missed_all(Received& received);
  void end(Received& received, const v1::MatchEnd& message);
  void forget_ask(Seat& seat);
  void enqueue(AskPointer ask);
  void count_asks(int more_queued, int more_taken);

  mutable std::mutex mutex_;
  const v1::Hello hello_;
  const bool ask_forced_;
  std::optional<Deals> deals_;
  const std::function<void(BotTask)> tasks_;
  std::shared_ptr<Outbox> out_;
  bool welcomed_ = false;
  bool draining_ = false;
  std::uint32_t epoch_ = 0;
  v1::Limits limits_;
  std::map<std::uint32_t, Seat> seats_;
  /// Matches by the id of their last ask. The ask may be closed: the arena can repeat it.
  std::unordered_map<std::uint64_t, std::uint32_t> match_of_ask_;
  /// Matches whose end the arena has sent.
  std::set<std::uint32_t> ended_;
  std::deque<std::uint32_t> ended_oldest_first_;
  /// Asks that no bot thread has taken yet, and that one has taken and not answered.
  int queued_asks_ = 0;
  int taken_asks_ = 0;
  /// The match of the last answer, of which is the arena's last round trip; none if it was sent again.
  std::optional<std::uint32_t> last_answered_;
};

}  // namespace cardarena::detail
