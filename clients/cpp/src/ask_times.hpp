// The time of a match's asks in the bot's own queue and on the network.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace cardarena::detail {

/// The times of a match's asks in the bot's own queue and on the network, which only the bot's side can tell
/// from thinking. Notes of them are due after 4, 8, 16 … asks that the bot answered.
class AskTimes {
 public:
  using Clock = std::chrono::steady_clock;

  bool due = false;
  std::optional<Clock::time_point> delivered_at;
  std::optional<Clock::time_point> answered_at;

  /// Begins with the next ask. The round trip is that of the ask before, and 0 if it is not known.
  void arrived(Clock::time_point now, std::chrono::milliseconds last_round_trip) {
    if (delivered_at && answered_at) {
      ++asks_;
      queue_ += *delivered_at - arrived_at_;
      if (last_round_trip.count() > 0) {
        ++measured_;
        network_ += std::max<Clock::duration>(Clock::duration::zero(),
                                              last_round_trip - (*answered_at - arrived_at_));
      }
      if (asks_ >= fewest_asks && (asks_ & (asks_ - 1)) == 0) {
        due = queue_ + network_ >= noted * asks_;
      }
    }
    arrived_at_ = now;
    delivered_at.reset();
    answered_at.reset();
  }

  /// The note that `arena match why` reads. It is due again after twice as many asks.
  std::string note() {
    due = false;
    const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
    char text[160];
    std::snprintf(text, sizeof text,
                  "times: %d asks waited %.3f s in the own queue; %d took %.3f s on the network", asks_,
                  seconds(queue_), measured_, seconds(network_));
    return text;
  }

 private:
  /// The number of asks before the first note of their times.
  static constexpr int fewest_asks = 4;
  /// The mean time of an ask in the queue and on the network from which there is a note.
  static constexpr std::chrono::milliseconds noted{10};

  int asks_ = 0;
  int measured_ = 0;
  Clock::duration queue_{};
  Clock::duration network_{};
  Clock::time_point arrived_at_{};
};

}  // namespace cardarena::detail
