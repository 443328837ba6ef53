// The messages that wait to be sent on one stream.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "cardarena/v1/play.pb.h"
#include "deal_set.hpp"

namespace cardarena::detail {

/// Answers gather until the writer is free and each bot thread with a queued ask has taken it, so that
/// answers that are ready go in one message. An answer waits for a bot that is choosing a move only during
/// the first moments of its choice, in which a quick bot answers.
class Outbox {
 public:
  /// The maximum time that answers wait for bot threads that have a queued ask and have not run yet, and that
  /// they wait for one after it has taken its ask.
  explicit Outbox(std::chrono::nanoseconds max_gather = std::chrono::milliseconds(1),
                  std::chrono::nanoseconds quick_choice = std::chrono::microseconds(100));

  /// Sets the arena's limits.
  void set_limits(const v1::Limits& limits);
  void put(std::vector<v1::BotMessage> messages);
  void put_answers(std::vector<v1::Answer> answers);
  /// Sets the number of asks that no bot thread has taken yet, and of those that one has taken.
  void set_asks(int queued, int taken);
  /// Ends the stream.
  void close();
  /// Waits until there is something to send; empty when the stream has ended.
  std::vector<v1::BotMessage> next();

 private:
  Clock::time_point gathers_until(Clock::time_point began) const;
  void frames(std::vector<v1::BotMessage>& all, std::vector<v1::Answer>::const_iterator first,
              std::vector<v1::Answer>::const_iterator last) const;

  const std::chrono::nanoseconds max_gather_;
  const std::chrono::nanoseconds quick_choice_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::BotMessage> messages_;
  std::vector<v1::Answer> answers_;
  v1::Limits limits_;
  int queued_ = 0;
  int taken_ = 0;
  Clock::time_point last_taken_;
  bool closed_ = false;
};

}  // namespace cardarena::detail
