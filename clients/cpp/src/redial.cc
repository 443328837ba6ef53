#include "redial.hpp"

#include <grpc/status.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace cardarena::detail {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration backoff_base = milliseconds(200);
constexpr Duration backoff_cap = seconds(30);
/// How long a stream must be open to reset the backoff.
constexpr Duration resets_backoff = seconds(10);
/// How long a bot that plays once tries to connect.
constexpr seconds once_timeout(10);
/// The number of redirects in a row that are followed without delay. Further ones wait as after a failure.
constexpr int max_immediate_redirects = 4;

/// The statuses after which another attempt would give the same result.
const std::map<int, std::string> refusals = {
    {GRPC_STATUS_UNAUTHENTICATED, "the arena rejected the token"},
    {GRPC_STATUS_PERMISSION_DENIED, "the token does not allow to play at this arena"},
    {GRPC_STATUS_FAILED_PRECONDITION, "the arena rejected the bot"},
    {GRPC_STATUS_INVALID_ARGUMENT, "the arena rejected the bot's hello message"},
    {GRPC_STATUS_ABORTED, "another bot connected with the same token; use a token for each bot"},
    {GRPC_STATUS_UNIMPLEMENTED, "the server is not an arena, or speaks another version of the protocol"},
};

/// The reasons of RESOURCE_EXHAUSTED that go away by themselves. Any other is the bot's mistake.
const std::set<std::string> temporary_reasons = {"BUSY", "TOO_MANY_OPEN", "NOT_READING"};

Attempt over(Outcome outcome, std::string reason) {
  return {"", Duration(0), PlayResult{outcome, std::move(reason), {}}};
}

Duration random_up_to(Duration max) {
  static std::mt19937_64 engine{std::random_device{}()};
  return Duration(std::uniform_int_distribution<Duration::rep>(0, max.count())(engine));
}

}  // namespace

std::string StreamEnd::summary() const {
  if (details.empty()) {
    return code == GRPC_STATUS_OK ? "it was closed" : "gRPC status " + std::to_string(code);
  }
  if (!welcomed && code == GRPC_STATUS_UNAVAILABLE) {
    const auto cause = details.rfind(": ");
    return cause == std::string::npos ? details : details.substr(cause + 2);
  }
  return details;
}

Redial::Redial(std::string address, bool once) : Redial(std::move(address), once, Clock::now, random_up_to) {}

Redial::Redial(std::string address, bool once, Now now, Jitter jitter)
    : address_(std::move(address)),
      once_(once),
      now_(std::move(now)),
      jitter_(std::move(jitter)),
      endpoint_(address_),
      connected_at_(now_()) {}

Attempt Redial::after(const StreamEnd& end) {
  if (end.welcomed) {
    connected_at_ = now_();
  }
  if (end.open_for >= resets_backoff) {
    failures_ = 0;
    redirects_ = 0;
  }
  if (!end.redirect.empty()) {
    endpoint_ = end.redirect;
    ++redirects_;
    return {endpoint_, redirects_ <= max_immediate_redirects ? Duration(0) : delay(Duration(0)),
            std::nullopt};
  }
  if (const auto refusal = refusals.find(end.code); refusal != refusals.end()) {
    return over(Outcome::refused, refusal->second + (end.details.empty() ? "" : " (" + end.details + ")"));
  }
  if (end.code == GRPC_STATUS_RESOURCE_EXHAUSTED && !temporary_reasons.contains(end.reason)) {
    return over(Outcome::refused,
                "the arena closed the stream because the bot exceeded a limit (" + end.summary() + ")");
  }
  if (end.code == GRPC_STATUS_OK && (once_ || end.draining)) {
    return over(Outcome::finished, "");
  }
  if (!end.welcomed) {
    endpoint_ = address_;
  }
  Duration wait = delay(end.retry_delay);
  if (once_) {
    const Duration left = once_timeout - (now_() - connected_at_);
    if (left <= Duration(0)) {
      return over(Outcome::unreachable, "no connection to the arena at " + address_ + " for " +
                                            std::to_string(once_timeout.count()) + " s (" + end.summary() +
                                            ")");
    }
    wait = std::min(wait, left);
  }
  return {endpoint_, wait, std::nullopt};
}

/// The time before the next stream: what the arena requested, and a random time on top. Many bots may have
/// the same request, so the random time is at least as long.
Duration Redial::delay(Duration requested) {
  const Duration limit = std::min(backoff_cap, backoff_base * (1 << std::min(failures_, 16)));
  ++failures_;
  return requested + jitter_(std::max(limit, requested));
}

}  // namespace cardarena::detail
