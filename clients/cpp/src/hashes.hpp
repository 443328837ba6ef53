// The hashes of fair deals, protocol fd2 of docs/fair-deals.md. Bytes are in strings, as in messages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cardarena::detail {

inline constexpr std::size_t hash_bytes = 32;

using ByParticipant = std::map<std::string, std::string>;

std::string sha256(std::initializer_list<std::string_view> parts);
std::string hmac_sha256(std::string_view key, std::string_view data);
std::string random_bytes(std::size_t count);
/// Four bytes, big-endian.
std::string uint32_bytes(std::uint32_t value);
std::string to_hex(std::string_view bytes);
/// The bytes of a hexadecimal text. Throws std::invalid_argument.
std::string from_hex(std::string_view text);

/// Byte strings, each after its length, so that different lists give different bytes.
std::string joined(const std::vector<std::string>& parts);
/// The protocol's hash, with a label for each purpose.
std::string digest(const std::string& label, std::vector<std::string> parts);
/// A participant's commitment to its entropy.
std::string commitment_of(const std::string& context, const std::string& participant,
                          const std::string& entropy);
/// The context that identifies a deal-set to one participant.
std::string view_of(const std::string& deal, const std::string& participant, const std::string& salt);
/// Binds the arena to a transcript before it publishes it.
std::string seal_of(const std::string& context, const std::string& transcript, const std::string& salt);
/// Binds everything that one participant sees before it reveals its entropy.
std::string view_transcript_of(const std::string& context, const std::string& server_commitment,
                               const std::string& participant, const std::string& commitment,
                               const std::string& seal);
/// Binds all commitments of a deal-set.
std::string transcript_of(const std::string& context, const std::string& server_commitment,
                          const ByParticipant& commitments);
/// The key from which all packs of the deal-set are derived.
std::string key_of(const std::string& transcript, const std::string& secret, const ByParticipant& entropies);

}  // namespace cardarena::detail
