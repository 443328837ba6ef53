#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>

#include "ask_state.hpp"

namespace cardarena {

namespace {

/// For matches of arenas that send no dice.
const std::string& own_dice() {
  static const std::string dice = detail::random_bytes(16);
  return dice;
}

/// The bytes of the UTF-8 character that a text begins with; 0 if it begins with none.
std::size_t utf8_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned int first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t count = first >= 0xC2 && first <= 0xDF   ? 2
                            : (first & 0xF0U) == 0xE0        ? 3
                            : first >= 0xF0 && first <= 0xF4 ? 4
                                                             : 0;
  for (std::size_t at = 1; at < count; ++at) {
    if ((byte(at) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  // Longer forms than needed, halves of surrogate pairs, and numbers past the last character.
  const unsigned int second = byte(1);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_wrong ? 0 : count;
}

}  // namespace

Random::Random(const std::array<std::uint8_t, 32>& seed) {
  std::array<std::uint32_t, 8> words{};
  for (std::size_t at = 0; at < seed.size(); ++at) {
    words[at / 4] = words[at / 4] << 8 | seed[at];
  }
  std::seed_seq sequence(words.begin(), words.end());
  engine_.seed(sequence);
}

std::size_t Random::below(std::size_t end) {
  if (end == 0) {
    throw std::invalid_argument("no number is below 0");
  }
  // Numbers of the last, incomplete round of `end` numbers are drawn again.
  const result_type left_over = (max() % end + 1) % end;
  result_type drawn = engine_();
  while (left_over != 0 && drawn > max() - left_over) {
    drawn = engine_();
  }
  return static_cast<std::size_t>(drawn % end);
}

Ask::Ask(std::shared_ptr<detail::AskState> state) : state_(std::move(state)) {}

Ask Ask::for_test(std::string game, int field, std::string body) {
  v1::Ask message;
  message.mutable_clock()->set_move_ms(60'000);
  const auto* found = v1::Ask::descriptor()->FindFieldByNumber(field);
  message.GetReflection()->SetString(&message, found, std::move(body));
  auto match = std::make_shared<Match>();
  match->game = std::move(game);
  return Ask(std::make_shared<detail::AskState>(std::move(message), std::move(match), detail::AskEvents{},
                                                detail::Clock::now()));
}

const Match& Ask::match() const { return *state_->match; }
std::uint64_t Ask::id() const { return state_->message.ask_id(); }
std::size_t Ask::move_count() const { return state_->body.moves.size(); }
bool Ask::moves_complete() const { return state_->body.moves_complete; }
std::string_view Ask::move_at(std::size_t index) const { return state_->body.moves.at(index); }
int Ask::field() const { return state_->body.field; }
std::string_view Ask::body() const { return state_->body.bytes; }
std::vector<std::string> Ask::events() const { return state_->all_events().events; }
std::vector<std::string> Ask::event_texts() const { return state_->all_events().texts; }
std::uint32_t Ask::decision() const { return state_->message.decision(); }
bool Ask::is_open() const { return state_->open; }

std::vector<std::string> Ask::move_texts() const {
  const auto& texts = state_->message.move_texts();
  return {texts.begin(), texts.end()};
}

std::vector<PlayedFor> Ask::played_for() const {
  std::vector<PlayedFor> all;
  for (const auto& each : state_->all_events().played_for) {
    all.push_back({static_cast<int>(each.seat()),
                   detail::lower_name(v1::FaultKind_Name(each.kind()), "FAULT_KIND_"), each.reason(),
                   each.events_before()});
  }
  return all;
}

std::chrono::milliseconds Ask::time_left() const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(state_->due - detail::Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

std::array<std::uint8_t, 32> Ask::seed() const {
  std::string dice = match().dice;
  if (dice.empty()) {
    dice = own_dice() + detail::uint32_bytes(match().number);
  }
  const std::string mac = detail::hmac_sha256(dice, detail::uint32_bytes(decision()));
  std::array<std::uint8_t, 32> seed{};
  std::copy(mac.begin(), mac.end(), seed.begin());
  return seed;
}

Random& Ask::random() {
  if (!state_->random) {
    state_->random.emplace(seed());
  }
  return *state_->random;
}

Choice Choice::index(std::size_t index) {
  Choice made;
  made.index_ = index;
  return made;
}

Choice Choice::move(int field, std::string bytes) {
  Choice made;
  made.field_ = field;
  made.bytes_ = std::move(bytes);
  return made;
}

Choice Choice::with_note(std::string note) const {
  Choice made = *this;
  made.note_ = std::move(note);
  return made;
}

std::optional<std::size_t> Choice::offered(const Ask& ask) const {
  const auto& moves = ask.state_->body.moves;
  if (field_ == 0) {
    if (index_ >= moves.size()) {
      throw std::invalid_argument("move index " + std::to_string(index_) +
                                  " is out of range: " + std::to_string(moves.size()) + " moves are offered");
    }
    return index_;
  }
  if (field_ != ask.field()) {
    throw std::invalid_argument("the move is not of " + ask.match().game);
  }
  const auto found = std::find(moves.begin(), moves.end(), bytes_);
  return found == moves.end() ? std::nullopt : std::optional<std::size_t>(found - moves.begin());
}

std::string Choice::chosen(const Ask& ask) const {
  if (const auto index = offered(ask)) {
    return std::string(ask.move_at(*index));
  }
  if (ask.moves_complete()) {
    throw std::invalid_argument("the move is not legal: it is not offered, and all legal moves are");
  }
  return bytes_;
}

namespace detail {

AskState::AskState(v1::Ask given, std::shared_ptr<const Match> of, AskEvents before, Clock::time_point now)
    : message(std::move(given)),
      match(std::move(of)),
      undelivered(std::move(before)),
      due(now + std::chrono::milliseconds(message.clock().move_ms()) +
          std::chrono::milliseconds(message.clock().bank_ms())),
      body(body_of(message)) {}

AskEvents AskState::all_events() const {
  AskEvents all = undelivered;
  const auto shift = static_cast<std::uint32_t>(all.events.size());
  all.events.insert(all.events.end(), body.events.begin(), body.events.end());
  all.texts.insert(all.texts.end(), message.event_texts().begin(), message.event_texts().end());
  for (v1::PlayedFor each : message.played_for()) {
    each.set_events_before(each.events_before() + shift);
    all.played_for.push_back(std::move(each));
  }
  return all;
}

Match match_of(const v1::MatchStart& start) {
  Match match;
  match.number = start.match();
  match.game = start.terms().game();
  match.seat = static_cast<int>(start.seat());
  for (const auto& player : start.players()) {
    match.players.push_back(player.name());
  }
  for (const auto& setting : start.terms().options()) {
    OptionValue& value = match.options[setting.name()];
    if (setting.value_case() == v1::Setting::kText) {
      value = setting.text();
    } else if (setting.value_case() == v1::Setting::kFlag) {
      value = setting.flag();
    } else {
      value = std::int64_t{setting.number()};
    }
  }
  match.match_id = start.match_id();
  match.dice = start.dice();
  return match;
}

v1::Answer answer_of(const Choice& choice, const Ask& ask) {
  v1::Answer answer;
  answer.set_ask_id(ask.id());
  answer.set_note(choice.note());
  if (const auto index = choice.offered(ask)) {
    answer.set_index(static_cast<std::uint32_t>(*index));
  } else {
    v1::GameMove& move = *answer.mutable_move();
    const auto* field = v1::GameMove::descriptor()->FindFieldByNumber(ask.field());
    move.GetReflection()->SetString(&move, field, choice.bytes());
  }
  return answer;
}

v1::Answer failed_answer(std::uint64_t ask_id, const std::string& why) {
  v1::Answer answer;
  answer.set_ask_id(ask_id);
  answer.set_failed(true);
  answer.set_note("error: " + why);
  return answer;
}

std::string truncated(const std::string& text, std::size_t max_chars) {
  std::string note = text;
  for (std::size_t at = 0; at < note.size();) {
    if (const std::size_t bytes = utf8_bytes(std::string_view(note).substr(at)); bytes > 0) {
      at += bytes;
    } else {
      note[at++] = '?';
    }
  }
  const auto starts_char = [](char each) { return (static_cast<unsigned char>(each) & 0xC0) != 0x80; };
  const auto chars = static_cast<std::size_t>(std::count_if(note.begin(), note.end(), starts_char));
  if (chars <= max_chars) {
    return note;
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < note.size(); ++at) {
    if (starts_char(note[at]) && kept++ == max_chars - 1) {
      return note.substr(0, at) + "\u2026";
    }
  }
  return note;
}

std::string lower_name(const std::string& name, std::string_view prefix) {
  std::string bare = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  std::transform(bare.begin(), bare.end(), bare.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return bare;
}

}  // namespace detail
}  // namespace cardarena
