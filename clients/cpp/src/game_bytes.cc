#include "game_bytes.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace cardarena::detail {

namespace {

using google::protobuf::internal::WireFormatLite;

// The numbers of the fields of each game's Ask.
constexpr int events_field = 2;
constexpr int moves_field = 3;
constexpr int moves_complete_field = 4;

/// The bytes that are set in a oneof game; nothing if none are.
template <class Message>
const std::string* bytes_of(const Message& message, int& field) {
  const auto* oneof = message.GetDescriptor()->FindOneofByName("game");
  const auto* found = message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
  if (found == nullptr) {
    return nullptr;
  }
  field = found->number();
  std::string scratch;
  return &message.GetReflection()->GetStringReference(message, found, &scratch);
}

}  // namespace

AskBody body_of(const v1::Ask& ask) {
  AskBody body;
  const std::string* bytes = bytes_of(ask, body.field);
  if (bytes == nullptr) {
    return body;
  }
  body.bytes = *bytes;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes->data()),
                                            static_cast<int>(bytes->size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      std::uint32_t size = 0;
      if (!in.ReadVarint32(&size)) {
        return body;
      }
      const auto at = static_cast<std::size_t>(in.CurrentPosition());
      if (size > bytes->size() - at) {
        return body;
      }
      const std::string_view part = body.bytes.substr(at, size);
      if (field == events_field) {
        body.events.push_back(part);
      } else if (field == moves_field) {
        body.moves.push_back(part);
      }
      in.Skip(static_cast<int>(size));
    } else if (std::uint32_t complete = 0; field == moves_complete_field && in.ReadVarint32(&complete)) {
      body.moves_complete = complete != 0;
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return body;
    }
  }
  return body;
}

std::vector<std::string> bytes_of_events(const v1::MatchEnd& end) {
  std::vector<std::string> events;
  for (const auto& event : end.trailing_events()) {
    int field = 0;
    if (const std::string* bytes = bytes_of(event, field); bytes != nullptr) {
      events.push_back(*bytes);
    }
  }
  return events;
}

}  // namespace cardarena::detail
