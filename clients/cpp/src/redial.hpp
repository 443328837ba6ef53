// When and where a bot connects again.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cardarena/cardarena.hpp"
#include "deal_set.hpp"

namespace cardarena::detail {

using Duration = std::chrono::nanoseconds;

/// How a stream ended.
struct StreamEnd {
  /// The gRPC status.
  int code = 0;
  std::string details;
  bool welcomed = false;
  Duration open_for{0};
  bool draining = false;
  /// Where the arena sent the bot; empty if nowhere.
  std::string redirect;
  /// That the arena requested before the next stream.
  Duration retry_delay{0};
  /// Of google.rpc.ErrorInfo; empty without one.
  std::string reason;

  /// The status in one line. gRPC's text of a failed connection is long, with the cause last.
  std::string summary() const;
};

/// The next stream, or how play ended.
struct Attempt {
  std::string endpoint;
  Duration delay{0};
  std::optional<PlayResult> over;
};

/// The maximum delay that an arena can request before the next stream.
inline constexpr std::chrono::seconds max_retry_delay(300);

/// Decides after each stream whether, when and where the bot connects again, by the table at Play in
/// play.proto. Delays grow exponentially, with full jitter.
class Redial {
 public:
  using Now = std::function<Clock::time_point()>;
  /// A random time from 0 to a maximum.
  using Jitter = std::function<Duration(Duration)>;

  Redial(std::string address, bool once);
  Redial(std::string address, bool once, Now now, Jitter jitter);

  Attempt first() const { return {address_, Duration(0), std::nullopt}; }
  Attempt after(const StreamEnd& end);

 private:
  Duration delay(Duration requested);

  const std::string address_;
  const bool once_;
  const Now now_;
  const Jitter jitter_;
  int failures_ = 0;
  int redirects_ = 0;
  std::string endpoint_;
  Clock::time_point connected_at_;
};

}  // namespace cardarena::detail
