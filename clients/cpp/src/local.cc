#include <fcntl.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "cardarena/cardarena.hpp"

namespace cardarena {

namespace {

/// The path of the command arena; empty if it is not in PATH.
std::string engine() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = (std::filesystem::path(folder) / "arena").string();
    if (::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return "";
}

std::string all_of(int file) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = ::read(file, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  return text;
}

/// Runs a program, and returns what it wrote to stdout and stderr.
std::pair<std::string, std::string> output_of(const std::vector<std::string>& command) {
  std::array<int, 2> out{};
  const std::unique_ptr<FILE, decltype(&std::fclose)> errors(std::tmpfile(), std::fclose);
  if (errors == nullptr || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot start " + command.front());
  }
  std::vector<char*> arguments;
  for (const auto& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(::fileno(errors.get()), STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(out[1]);
  std::string text = all_of(out[0]);
  ::close(out[0]);
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  ::lseek(::fileno(errors.get()), 0, SEEK_SET);
  return {std::move(text), all_of(::fileno(errors.get()))};
}

}  // namespace

bool has_engine() { return !engine().empty(); }

LocalMatch play_local(const std::string& game, const std::vector<std::string>& bots,
                      const std::vector<std::string>& flags) {
  const std::string program = engine();
  if (program.empty()) {
    throw std::runtime_error(
        "the command \"arena\" of the engine is not in PATH: pip install 'cardarena-engine[server]'");
  }
  std::vector<std::string> command{program, "play", game};
  command.insert(command.end(), bots.begin(), bots.end());
  command.push_back("--json");
  command.insert(command.end(), flags.begin(), flags.end());
  const auto [text, errors] = output_of(command);
  google::protobuf::Struct result;
  // Also if a bot failed, which the exit code tells.
  if (text.empty() || !google::protobuf::util::JsonStringToMessage(text, &result).ok()) {
    throw std::runtime_error("the engine could not play: " + errors);
  }
  auto& fields = *result.mutable_fields();
  LocalMatch match;
  match.ending = fields["ending"].string_value();
  match.replay = fields["replay"].string_value();
  for (const auto& score : fields["scores"].list_value().values()) {
    match.scores.push_back(static_cast<int>(score.number_value()));
  }
  for (const auto& fault : fields["faults"].list_value().values()) {
    auto parts = fault.struct_value().fields();
    match.faults.push_back({static_cast<int>(parts["seat"].number_value()), parts["kind"].string_value(),
                            parts["reason"].string_value()});
  }
  return match;
}

}  // namespace cardarena
