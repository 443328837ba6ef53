// The client of the conformance kit. clients/conformance/README.md describes its fixed bot.

#include <cardarena/cardarena.hpp>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::chrono::milliseconds sleep_time(0);
std::mutex printing;

void print(const std::string& line) {
  const std::lock_guard lock(printing);
  std::cout << line << std::endl;
}

class FixedBot final : public cardarena::Bot {
 public:
  explicit FixedBot(const cardarena::Match& match) { print("started " + std::to_string(match.number)); }

  cardarena::Choice move(cardarena::Ask& ask) override {
    ++asked_;
    std::this_thread::sleep_for(sleep_time);
    if (ask.id() % 1000 == 999) {
      throw std::runtime_error("the fixed bot's mistake");
    }
    std::string note = std::to_string(asked_);
    for (std::uint64_t left = ask.id() / 1000; left > 0; --left) {
      note += "\U0001F0A1";
    }
    if (ask.id() % 1000 == 998) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto seed = ask.seed();
      note.clear();
      for (std::size_t at = 0; at < 4; ++at) {
        note += digits[seed[at] >> 4];
        note += digits[seed[at] & 15];
      }
    }
    return cardarena::Choice::index(ask.id() % ask.move_count()).with_note(note);
  }

  void ended(const cardarena::End& end) override {
    print("ended " + std::to_string(end.match.number) + " " + end.ending);
  }

 private:
  int asked_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> others;
  for (int at = 0; at < argc; ++at) {
    if (std::string_view(argv[at]) == "--sleep-ms" && at + 1 < argc) {
      sleep_time = std::chrono::milliseconds(std::stoi(argv[++at]));
    } else {
      others.push_back(argv[at]);
    }
  }
  cardarena::Player fixed;
  fixed.name = "fixed";
  fixed.bot_version = "kit";
  fixed.ask_forced = true;
  fixed.bot = [](const cardarena::Match& match) { return std::make_unique<FixedBot>(match); };
  return cardarena::run(static_cast<int>(others.size()), others.data(), fixed);
}
