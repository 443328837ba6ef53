#include "receipts.hpp"

#include <fcntl.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace cardarena::detail {

namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr const char* receipt_format = "fd2";

Value& field(Struct& object, const char* name) { return (*object.mutable_fields())[name]; }

void set_hex(Struct& object, const char* name, const std::string& bytes) {
  if (bytes.empty()) {
    field(object, name).set_null_value(google::protobuf::NULL_VALUE);
  } else {
    field(object, name).set_string_value(to_hex(bytes));
  }
}

void set_map(Struct& object, const char* name, const Opening* opening,
             const ByParticipant Opening::* values) {
  if (opening == nullptr) {
    field(object, name).set_null_value(google::protobuf::NULL_VALUE);
    return;
  }
  Struct& made = *field(object, name).mutable_struct_value();
  for (const auto& [participant, bytes] : opening->*values) {
    (*made.mutable_fields())[participant].set_string_value(to_hex(bytes));
  }
}

Struct json_of(const DealSet& deal) {
  Struct made;
  field(made, "receipt").set_string_value(receipt_format);
  set_hex(made, "context", deal.context);
  set_hex(made, "server_commitment", deal.server_commitment);
  field(made, "participant").set_string_value(deal.participant);
  set_hex(made, "entropy", deal.entropy);
  set_hex(made, "commitment", deal.commitment());
  set_hex(made, "shown", deal.shown_commitment);
  set_hex(made, "seal", deal.seal);
  set_hex(made, "transcript", deal.transcript());
  set_hex(made, "public_key", deal.public_key);
  set_hex(made, "signature", deal.signature);
  field(made, "refused").set_bool_value(deal.refused);
  const Opening* opening = deal.opening ? &*deal.opening : nullptr;
  set_hex(made, "deal", opening == nullptr ? "" : opening->deal);
  set_hex(made, "secret", opening == nullptr ? "" : opening->secret);
  set_map(made, "commitments", opening, &Opening::commitments);
  set_map(made, "entropies", opening, &Opening::entropies);
  set_map(made, "salts", opening, &Opening::salts);
  set_hex(made, "deal_key", deal.key());
  field(made, "void_reason").set_string_value(deal.void_reason);
  auto& lies = *field(made, "lies").mutable_list_value();
  for (const auto& lie : deal.lies) {
    lies.add_values()->set_string_value(lie);
  }
  auto& matches = *field(made, "matches").mutable_list_value();
  for (const auto& chain : deal.chains) {
    Struct& match = *matches.add_values()->mutable_struct_value();
    field(match, "match").set_number_value(chain.match_number);
    if (chain.match_id.empty()) {
      field(match, "replay_id").set_null_value(google::protobuf::NULL_VALUE);
    } else {
      field(match, "replay_id").set_string_value(chain.match_id);
    }
    field(match, "game").set_string_value(chain.game);
    field(match, "seat").set_number_value(chain.seat);
    auto& asks = *field(match, "asks").mutable_list_value();
    for (const auto& [decision, digits] : chain.links) {
      auto& link = *asks.add_values()->mutable_list_value();
      link.add_values()->set_number_value(decision);
      link.add_values()->set_string_value(digits);
    }
    set_hex(match, "chain", chain.hash);
    set_hex(match, "end", chain.end_sha256);
    set_hex(match, "last_sha256", chain.last_sha256);
  }
  return made;
}

const Value& get(const Struct& object, const char* name) {
  static const Value missing;
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? missing : found->second;
}

std::string get_hex(const Struct& object, const char* name) {
  return from_hex(get(object, name).string_value());
}

std::uint32_t get_number(const Struct& object, const char* name) {
  return static_cast<std::uint32_t>(get(object, name).number_value());
}

ByParticipant get_map(const Struct& object, const char* name) {
  ByParticipant values;
  for (const auto& [participant, text] : get(object, name).struct_value().fields()) {
    values[participant] = from_hex(text.string_value());
  }
  return values;
}

DealSet deal_set_of(const Struct& made) {
  DealSet deal;
  deal.context = get_hex(made, "context");
  deal.server_commitment = get_hex(made, "server_commitment");
  deal.participant = get(made, "participant").string_value();
  deal.entropy = get_hex(made, "entropy");
  deal.prior_commitment = deal.entropy.empty() ? get_hex(made, "commitment") : "";
  deal.shown_commitment = get_hex(made, "shown");
  deal.seal = get_hex(made, "seal");
  deal.public_key = get_hex(made, "public_key");
  deal.signature = get_hex(made, "signature");
  deal.refused = get(made, "refused").bool_value();
  deal.void_reason = get(made, "void_reason").string_value();
  for (const auto& lie : get(made, "lies").list_value().values()) {
    deal.lies.push_back(lie.string_value());
  }
  if (get(made, "commitments").has_struct_value()) {
    deal.opening = Opening{get_hex(made, "deal"), get_hex(made, "secret"), get_map(made, "commitments"),
                           get_map(made, "entropies"), get_map(made, "salts")};
  }
  for (const auto& value : get(made, "matches").list_value().values()) {
    const Struct& match = value.struct_value();
    AskChain chain;
    chain.match_number = get_number(match, "match");
    chain.game = get(match, "game").string_value();
    chain.seat = get_number(match, "seat");
    chain.match_id = get(match, "replay_id").string_value();
    chain.hash = get_hex(match, "chain");
    chain.end_sha256 = get_hex(match, "end");
    chain.last_sha256 = get_hex(match, "last_sha256");
    for (const auto& link : get(match, "asks").list_value().values()) {
      const auto& parts = link.list_value().values();
      if (parts.size() == 2) {
        chain.links.emplace_back(static_cast<std::uint32_t>(parts[0].number_value()),
                                 parts[1].string_value());
      }
    }
    deal.chains.push_back(std::move(chain));
  }
  return deal;
}

/// The beginning of a receipt's name.
std::string start_of_name(const std::string& context) { return to_hex(context.substr(0, 8)) + "-"; }

/// It has a hash of the participant's name, because the arena may send a name that is a path.
std::string file_name(const std::string& context, const std::string& participant) {
  return start_of_name(context) + to_hex(sha256({participant}).substr(0, 4)) + ".json";
}

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0) {
      throw std::system_error(errno, std::generic_category());
    }
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

ReceiptFolder::ReceiptFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
}

void ReceiptFolder::write(const DealSet& deal) const {
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(json_of(deal), &text).ok()) {
    throw std::system_error(EINVAL, std::generic_category(), "a receipt is not text");
  }
  text += '\n';
  const auto path = path_ / file_name(deal.context, deal.participant);
  const std::string partial = path.string() + "." + std::to_string(::getpid()) + ".partial";
  // Only the owner can read it: the entropy is secret until the bot reveals it.
  const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    throw std::system_error(errno, std::generic_category());
  }
  try {
    write_all(file, text);
  } catch (...) {
    ::close(file);
    ::unlink(partial.c_str());
    throw;
  }
  ::close(file);
  std::filesystem::rename(partial, path);
}

std::optional<DealSet> ReceiptFolder::read(const std::string& context, const std::string& participant) const {
  std::filesystem::path found = path_ / file_name(context, participant);
  std::error_code error;
  if (participant.empty()) {
    found.clear();
    const std::string start = start_of_name(context);
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(start) && name.ends_with(".json")) {
        if (!found.empty()) {
          return std::nullopt;
        }
        found = entry.path();
      }
    }
  }
  std::ifstream file(found);
  if (!file) {
    return std::nullopt;
  }
  std::ostringstream text;
  text << file.rdbuf();
  Struct made;
  try {
    if (!google::protobuf::util::JsonStringToMessage(text.str(), &made).ok() ||
        get(made, "receipt").string_value() != receipt_format || get_hex(made, "context") != context) {
      return std::nullopt;
    }
    return deal_set_of(made);
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // not a complete receipt
  }
}

}  // namespace cardarena::detail
