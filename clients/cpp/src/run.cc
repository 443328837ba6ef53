#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "bot_runner.hpp"
#include "connection.hpp"

namespace cardarena {

namespace {

using namespace detail;

constexpr const char* default_address = "localhost:7654";
constexpr std::string_view guest = "guest:";

void log_to_stderr(Level level, std::string_view line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* name = level == Level::info ? "INFO " : level == Level::warning ? "WARNING " : "ERROR ";
  std::cerr << name << line << std::endl;
}

v1::Hello hello_of(const Player& player, const std::string& name, const std::string& given_token) {
  if (!player.bot && !player.batch) {
    throw Misconfigured("the player " + name + " has no bot: set bot or batch");
  }
  std::string token = given_token.empty() ? std::string(guest) + name : given_token;
  // A random suffix, so that another guest of the same name cannot take over the matches.
  if (token.starts_with(guest) && std::count(token.begin(), token.end(), ':') == 1) {
    token += ":" + to_hex(random_bytes(16));
  }
  v1::Hello hello;
  hello.set_token(token);
  hello.set_sdk("cardarena-cpp/" + std::string(version));
  hello.set_want_text(player.want_text);
  hello.set_adds_entropy(player.adds_entropy);
  hello.set_contract(Session::contract);
  hello.add_capabilities(v1::CAPABILITY_REDIRECT);
  hello.set_max_matches(player.max_matches);
  hello.set_max_open_asks(player.max_open_asks);
  hello.set_version(player.bot_version);
  const auto known = all_games();
  for (const auto& game : player.games.empty() ? known : player.games) {
    if (std::find(known.begin(), known.end(), game) == known.end()) {
      std::string list;
      for (const auto& each : known) {
        list += (list.empty() ? "" : ", ") + each;
      }
      throw Misconfigured("this version of the SDK does not support the game \"" + game + "\": it supports " +
                          list);
    }
    hello.add_games()->set_game(game);
  }
  return hello;
}

std::optional<Deals> deals_of(const Player& player, const std::string& receipts) {
  if (!player.adds_entropy) {
    return std::nullopt;
  }
  if (receipts.empty()) {
    return Deals(std::nullopt);
  }
  try {
    return Deals(ReceiptFolder(receipts));
  } catch (const std::filesystem::filesystem_error& error) {
    throw Misconfigured("cannot store receipts in " + receipts + ": " + error.code().message());
  }
}

PlayResult play_with(const Player& player, Options options, const std::stop_token& stop) {
  options.address = or_environment(options.address, "CARDARENA_ADDRESS");
  if (options.address.empty()) {
    options.address = default_address;
  }
  options.once = options.once || or_environment("", "CARDARENA_ONCE") == "1";
  const std::string name = player.name.empty() ? "cpp-bot" : player.name;
  auto hello = hello_of(player, name, or_environment(options.token, "CARDARENA_TOKEN"));
  Dialer dialer(options);
  auto deals = deals_of(player, or_environment(options.receipts, "CARDARENA_RECEIPTS"));
  const auto runner = std::make_shared<BotRunner>(player, options.logger);
  const auto session = std::make_shared<Session>(std::move(hello), player.ask_forced, std::move(deals),
                                                 [weak = std::weak_ptr(runner)](BotTask task) {
                                                   // Weak, because the runner has the session: two that
                                                   // have each other are never freed.
                                                   if (const auto kept = weak.lock()) {
                                                     kept->accept(std::move(task));
                                                   }
                                                 });
  runner->start(session);
  Connection connection(session, Redial(options.address, options.once), std::move(dialer), options.logger);
  PlayResult result = connection.run(stop);
  session->finish();
  runner->finish(result.outcome != Outcome::interrupted);
  result.lies = session->lies();
  if (!result.lies.empty()) {
    result.outcome = Outcome::lied;
    result.reason = result.lies.front();
  }
  return result;
}

struct Flag {
  const char* name;
  const char* value;
  const char* does;
  std::string Options::* text;
  bool Options::* on;
};

constexpr Flag flags[] = {
    {"--address", "ADDRESS",
     "HOST:PORT, https://HOST:PORT or unix:PATH (default: $CARDARENA_ADDRESS or localhost:7654)",
     &Options::address, nullptr},
    {"--token", "TOKEN",
     "the bot's token (default: $CARDARENA_TOKEN or guest:NAME; other users of this machine can see a token "
     "on the command line)",
     &Options::token, nullptr},
    {"--receipts", "FOLDER",
     "store receipts of fair deals in this folder, one for each bot (default: $CARDARENA_RECEIPTS)",
     &Options::receipts, nullptr},
    {"--tls", "", "use TLS, as with an https:// address", nullptr, &Options::tls},
    {"--ca", "FILE", "root certificates for the arena's certificate, PEM (default: $CARDARENA_CA)",
     &Options::ca_file, nullptr},
    {"--client-cert", "FILE",
     "the bot's certificate, PEM, if the arena requires one (default: $CARDARENA_CLIENT_CERT)",
     &Options::client_cert, nullptr},
    {"--client-key", "FILE", "the private key of that certificate, PEM (default: $CARDARENA_CLIENT_KEY)",
     &Options::client_key, nullptr},
    {"--insecure", "", "allow sending the token to another machine in plain text", nullptr,
     &Options::insecure},
};

void print_help(const std::string& program) {
  std::cout << "Usage: " << program << " [FLAGS]\n\nPlays at an arena until it ends play.\n\n";
  for (const auto& flag : flags) {
    std::cout << "  " << flag.name << (*flag.value == '\0' ? "" : " ") << flag.value << "\n        "
              << flag.does << "\n";
  }
  std::cout << "\nExit codes: 0 the arena ended play, 1 it is unreachable, 2 it refused the bot or an option "
               "is wrong, "
               "3 it lied about its deals, 130 interrupted.\n";
}

/// Reads the flags, or returns an error.
std::string parse(int argc, char** argv, Options& options) {
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    const std::string name = word.substr(0, word.find('='));
    const auto* flag =
        std::find_if(std::begin(flags), std::end(flags), [&](const Flag& each) { return each.name == name; });
    if (flag == std::end(flags)) {
      return "unexpected argument \"" + word + "\": see --help";
    }
    if (flag->on != nullptr) {
      options.*(flag->on) = true;
    } else if (name.size() < word.size()) {
      options.*(flag->text) = word.substr(name.size() + 1);
    } else if (++at < argc) {
      options.*(flag->text) = argv[at];
    } else {
      return name + " needs a value: " + flag->value;
    }
  }
  return "";
}

}  // namespace

int PlayResult::exit_code() const {
  switch (outcome) {
    case Outcome::finished:
      return 0;
    case Outcome::unreachable:
      return 1;
    case Outcome::refused:
    case Outcome::misconfigured:
      return 2;
    case Outcome::lied:
      return 3;
    case Outcome::interrupted:
      return 130;
  }
  return 1;
}

PlayResult play(const Player& player, const Options& options, std::stop_token stop) {
  Options filled = options;
  if (!filled.logger) {
    filled.logger = log_to_stderr;
  }
  try {
    return play_with(player, filled, stop);
  } catch (const Misconfigured& error) {
    return {Outcome::misconfigured, error.what(), {}};
  } catch (const std::exception& error) {
    return {Outcome::unreachable, error.what(), {}};
  }
}

int run(int argc, char** argv, const Player& player) {
  const std::string program = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "bot";
  if (argc > 1 && std::string_view(argv[1]) == "--help") {
    print_help(program);
    return 0;
  }
  Options options;
  if (const std::string error = parse(argc, argv, options); !error.empty()) {
    std::cerr << program << ": " << error << std::endl;
    return 2;
  }
  // All threads block SIGINT, and one waits for it.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  const auto source = std::make_shared<std::stop_source>();
  std::thread([source, interrupt] {
    int signal = 0;
    sigwait(&interrupt, &signal);
    source->request_stop();
  }).detach();
  Player named = player;
  if (named.name.empty()) {
    named.name = program;
  }
  const PlayResult result = play(named, options, source->get_token());
  if (!result.reason.empty() && result.outcome != Outcome::interrupted) {
    log_to_stderr(Level::error, result.reason);
  }
  std::cout.flush();
  if (result.outcome == Outcome::interrupted || source->stop_requested()) {
    std::fflush(nullptr);
    _exit(result.exit_code());  // threads of bots may still run
  }
  return result.exit_code();
}

}  // namespace cardarena
