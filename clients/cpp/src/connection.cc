#include "connection.hpp"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "cardarena/v1/play.grpc.pb.h"
#include "error_details.pb.h"

namespace cardarena::detail {

namespace {

constexpr auto before_the_first = static_cast<std::size_t>(-1);

/// Waits, or returns false if a stop is requested.
bool wait(Duration delay, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, delay, [] { return false; });
  return !stop.stop_requested();
}

/// The reason and the delay that the arena gave with the end of a call.
void read_details(const grpc::Status& status, StreamEnd& end) {
  rpc::Status details;
  if (!details.ParseFromString(status.error_details())) {
    return;
  }
  for (const auto& detail : details.details()) {
    if (rpc::ErrorInfo info;
        detail.type_url().ends_with("/google.rpc.ErrorInfo") && info.ParseFromString(detail.value())) {
      end.reason = info.reason();
    } else if (rpc::RetryInfo retry; detail.type_url().ends_with("/google.rpc.RetryInfo") &&
                                     retry.ParseFromString(detail.value())) {
      const auto seconds =
          std::clamp<std::int64_t>(retry.retry_delay().seconds(), 0, max_retry_delay.count());
      const Duration asked =
          std::chrono::seconds(seconds) + Duration(std::max(0, retry.retry_delay().nanos()));
      end.retry_delay = std::min<Duration>(max_retry_delay, std::max(end.retry_delay, asked));
    }
  }
}

}  // namespace

Connection::Connection(std::shared_ptr<Session> session, Redial redial, Dialer dialer, Logger log)
    : session_(std::move(session)),
      redial_(std::move(redial)),
      dialer_(std::move(dialer)),
      log_(std::move(log)) {}

PlayResult Connection::run(const std::stop_token& stop) {
  const PlayResult interrupted{Outcome::interrupted, "interrupted", {}};
  Attempt next = redial_.first();
  while (true) {
    if (!wait(next.delay, stop)) {
      return interrupted;
    }
    StreamEnd end;
    const auto over = stream(next.endpoint, stop, end);
    if (stop.stop_requested()) {
      return interrupted;
    }
    if (over) {
      return *over;
    }
    next = redial_.after(end);
    if (next.over) {
      return *next.over;
    }
    if (!end.redirect.empty()) {
      log_(Level::info, "the arena redirected the bot to " + next.endpoint);
    } else if (end.welcomed) {
      log_(Level::info, "the stream ended; reconnecting: " + end.summary());
    } else {
      log_(Level::info, "cannot connect to the arena at " + next.endpoint + "; retrying: " + end.summary());
    }
  }
}

std::optional<PlayResult> Connection::stream(const std::string& endpoint, const std::stop_token& stop,
                                             StreamEnd& end) {
  const auto opened = Clock::now();
  std::shared_ptr<grpc::Channel> channel;
  try {
    channel = dialer_.dial(endpoint);
  } catch (const Misconfigured& error) {
    return PlayResult{Outcome::misconfigured, error.what(), {}};
  }
  const auto stub = v1::PlayService::NewStub(channel);
  grpc::ClientContext context;
  const std::stop_callback cancels(stop, [&context] { context.TryCancel(); });
  const auto call = stub->Play(&context);
  const auto out = std::make_shared<Outbox>();
  session_->stream_opened(out);
  std::thread writer([&call, &out] {
    for (auto messages = out->next(); !messages.empty(); messages = out->next()) {
      for (const auto& message : messages) {
        if (!call->Write(message)) {
          return;  // the reader gets the status of the stream
        }
      }
    }
  });
  std::optional<PlayResult> refused;
  std::size_t matches_before = before_the_first;
  for (v1::ArenaMessage message; call->Read(&message);) {
    const Received received = session_->receive(message, Clock::now());
    end.welcomed = end.welcomed || received.welcomed;
    log_received(received, matches_before);
    if (!received.refused.empty()) {
      refused = PlayResult{Outcome::refused, received.refused, {}};
    }
    end.redirect = received.redirect;
    if (refused || !end.redirect.empty()) {
      context.TryCancel();
      break;
    }
  }
  end.draining = session_->stream_lost();
  out->close();
  writer.join();
  const grpc::Status status = call->Finish();
  end.open_for = Clock::now() - opened;
  if (end.redirect.empty()) {
    end.code = status.error_code();
    end.details = status.error_message();
    read_details(status, end);
  }
  return refused;
}

void Connection::log_received(const Received& received, std::size_t& matches_before) {
  for (const auto& line : received.warnings) {
    log_(Level::warning, line);
  }
  const auto games = session_->games();
  if (received.welcomed) {
    log_(Level::info, "connected to the arena; matches in play: " + std::to_string(games.size()));
  } else if (matches_before != before_the_first && games.empty() && matches_before > 0) {
    log_(Level::info, "waiting for a match");
  } else if (matches_before != before_the_first && games.size() > matches_before) {
    log_(Level::info, "playing " + games.back() + "; matches in play: " + std::to_string(games.size()));
  }
  matches_before = games.size();
}

}  // namespace cardarena::detail
