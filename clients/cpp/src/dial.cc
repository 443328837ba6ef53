#include "dial.hpp"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace cardarena::detail {

namespace {

constexpr std::string_view tls_scheme = "https://";
constexpr std::string_view plain_text_scheme = "http://";
/// Twice the size of an arena's largest message.
constexpr int max_receive_bytes = 4 << 20;
constexpr int ping_interval_ms = 20'000;
constexpr int ping_timeout_ms = 10'000;

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw Misconfigured("cannot read " + name + ": " + std::strerror(errno));
  }
  return text.str();
}

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio bio_of(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free};
}

Certificate certificate_of(const std::string& pem) {
  return {PEM_read_bio_X509(bio_of(pem).get(), nullptr, nullptr, nullptr), X509_free};
}

/// Whether an endpoint is on this machine.
bool is_local(const std::string& endpoint) {
  if (endpoint.starts_with("unix:")) {
    return true;
  }
  std::string host = endpoint;
  if (endpoint.starts_with('[')) {
    host = endpoint.substr(1, endpoint.find(']') - 1);
  } else if (const auto colon = endpoint.rfind(':');
             colon != std::string::npos && endpoint.find(':') == colon) {
    host = endpoint.substr(0, colon);
  }
  in_addr four{};
  in6_addr six{};
  return host == "localhost" ||
         (inet_pton(AF_INET, host.c_str(), &four) == 1 && ntohl(four.s_addr) >> 24 == 127) ||
         (inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

std::string without_end_slash(std::string text) {
  if (text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string or_environment(const std::string& option, const char* variable) {
  const char* value = std::getenv(variable);
  return !option.empty() || value == nullptr ? option : value;
}

Dialer::Dialer(const Options& options) : insecure_(options.insecure) {
  const bool files = !options.ca_file.empty() || !options.client_cert.empty() || !options.client_key.empty();
  if (options.tls || files || options.address.starts_with(tls_scheme)) {
    tls_ = tls_of(or_environment(options.ca_file, "CARDARENA_CA"),
                  or_environment(options.client_cert, "CARDARENA_CLIENT_CERT"),
                  or_environment(options.client_key, "CARDARENA_CLIENT_KEY"));
  }
  target(options.address);
}

Dialer::Tls Dialer::tls_of(const std::string& ca_file, const std::string& cert_file,
                           const std::string& key_file) {
  Tls tls;
  if (!ca_file.empty()) {
    tls.ca = read_file(ca_file);
    if (certificate_of(tls.ca) == nullptr) {
      throw Misconfigured(ca_file + " contains no PEM certificates");
    }
  }
  if (cert_file.empty() != key_file.empty()) {
    throw Misconfigured("a client certificate needs its key: give both --client-cert and --client-key");
  }
  if (!cert_file.empty()) {
    tls.cert = read_file(cert_file);
    tls.key = read_file(key_file);
    const Certificate certificate = certificate_of(tls.cert);
    const Key key(PEM_read_bio_PrivateKey(bio_of(tls.key).get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    if (certificate == nullptr || key == nullptr ||
        X509_check_private_key(certificate.get(), key.get()) != 1) {
      throw Misconfigured(cert_file + " and " + key_file + " are not a PEM certificate with its key");
    }
  }
  return tls;
}

std::shared_ptr<grpc::Channel> Dialer::dial(const std::string& endpoint) const {
  const std::string address = target(endpoint);
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (tls_) {
    credentials = grpc::SslCredentials({tls_->ca, tls_->key, tls_->cert});
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(max_receive_bytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_interval_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_timeout_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit: an idle stream is pinged, too
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own for each stream
  if (is_local(address)) {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // http_proxy is for other machines
  }
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

std::string Dialer::target(const std::string& endpoint) const {
  if (endpoint.starts_with(tls_scheme)) {
    if (!tls_) {
      throw Misconfigured(endpoint + " needs TLS: start the address with https://, or add --tls");
    }
    return without_end_slash(endpoint.substr(tls_scheme.size()));
  }
  std::string address = endpoint;
  if (endpoint.starts_with(plain_text_scheme)) {
    if (tls_) {
      throw Misconfigured(endpoint + " is a plain-text address, but TLS is required");
    }
    address = without_end_slash(endpoint.substr(plain_text_scheme.size()));
  }
  if (!tls_ && !insecure_ && !is_local(address)) {
    throw Misconfigured("the token would be sent to " + address + " in plain text: use https://" + address +
                        ", or allow it with --insecure");
  }
  return address;
}

}  // namespace cardarena::detail
