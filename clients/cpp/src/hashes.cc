#include "hashes.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <memory>
#include <stdexcept>

namespace cardarena::detail {

namespace {

const unsigned char* unsigned_data(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void append_pairs(std::vector<std::string>& parts, const ByParticipant& values) {
  for (const auto& [name, value] : values) {
    parts.push_back(joined({name, value}));
  }
}

}  // namespace

std::string sha256(std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (const auto part : parts) {
    EVP_DigestUpdate(context.get(), part.data(), part.size());
  }
  std::string hash(hash_bytes, '\0');
  EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(hash.data()), nullptr);
  return hash;
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
  std::string mac(hash_bytes, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), unsigned_data(data), data.size(),
       reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  return mac;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    throw std::runtime_error("this machine gives no random bytes");
  }
  return bytes;
}

std::string uint32_bytes(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  const auto digit = [](char each) {
    if (each >= '0' && each <= '9') {
      return each - '0';
    }
    if (each >= 'a' && each <= 'f') {
      return each - 'a' + 10;
    }
    throw std::invalid_argument("not hexadecimal");
  };
  if (text.size() % 2 != 0) {
    throw std::invalid_argument("not hexadecimal");
  }
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    bytes += static_cast<char>(digit(text[at]) * 16 + digit(text[at + 1]));
  }
  return bytes;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) {
    all += uint32_bytes(static_cast<std::uint32_t>(part.size()));
    all += part;
  }
  return all;
}

std::string digest(const std::string& label, std::vector<std::string> parts) {
  parts.insert(parts.begin(), {"fd1", label});
  return sha256({joined(parts)});
}

std::string commitment_of(const std::string& context, const std::string& participant,
                          const std::string& entropy) {
  return digest("bot-commit", {context, participant, entropy});
}

std::string view_of(const std::string& deal, const std::string& participant, const std::string& salt) {
  return digest("view", {deal, participant, salt});
}

std::string seal_of(const std::string& context, const std::string& transcript, const std::string& salt) {
  return digest("seal", {context, transcript, salt});
}

std::string view_transcript_of(const std::string& context, const std::string& server_commitment,
                               const std::string& participant, const std::string& commitment,
                               const std::string& seal) {
  return digest("view-transcript", {context, server_commitment, joined({participant, commitment}), seal});
}

std::string transcript_of(const std::string& context, const std::string& server_commitment,
                          const ByParticipant& commitments) {
  std::vector<std::string> parts{context, server_commitment};
  append_pairs(parts, commitments);
  return digest("transcript", std::move(parts));
}

std::string key_of(const std::string& transcript, const std::string& secret, const ByParticipant& entropies) {
  std::vector<std::string> parts{secret};
  append_pairs(parts, entropies);
  return hmac_sha256(transcript, joined(parts));
}

}  // namespace cardarena::detail
