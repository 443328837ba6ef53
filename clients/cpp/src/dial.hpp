// TLS, and when a token may be sent in plain text.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cardarena/cardarena.hpp"

namespace cardarena::detail {

/// The options do not work together, name a bad file, or would send the token unprotected.
struct Misconfigured : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Opens connections to an arena, and to the addresses of its redirects. A token is sent in plain text only
/// within this machine, unless the author allows more: anyone who reads a token can play as the bot.
class Dialer {
 public:
  /// Throws Misconfigured. The address is filled in.
  explicit Dialer(const Options& options);

  /// A connection to the arena's address or to that of a redirect. Throws Misconfigured.
  std::shared_ptr<grpc::Channel> dial(const std::string& endpoint) const;

 private:
  struct Tls {
    std::string ca;
    std::string cert;
    std::string key;
  };

  static Tls tls_of(const std::string& ca_file, const std::string& cert_file, const std::string& key_file);
  /// The gRPC target of an endpoint.
  std::string target(const std::string& endpoint) const;

  std::optional<Tls> tls_;
  const bool insecure_;
};

/// The first value that is not empty: the option, or the environment variable.
std::string or_environment(const std::string& option, const char* variable);

}  // namespace cardarena::detail
