// The connection of a bot to the arena: one stream after another, with a reader and a writer.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "dial.hpp"
#include "redial.hpp"
#include "session.hpp"

namespace cardarena::detail {

class Connection {
 public:
  Connection(std::shared_ptr<Session> session, Redial redial, Dialer dialer, Logger log);

  /// Opens one stream after another until play ends or a stop is requested.
  PlayResult run(const std::stop_token& stop);

 private:
  /// Plays on one stream until it ends. If it returns a result, no stream follows.
  std::optional<PlayResult> stream(const std::string& endpoint, const std::stop_token& stop, StreamEnd& end);
  /// Logs what a message of the arena brought.
  void log_received(const Received& received, std::size_t& matches_before);

  const std::shared_ptr<Session> session_;
  Redial redial_;
  const Dialer dialer_;
  const Logger log_;
};

}  // namespace cardarena::detail
