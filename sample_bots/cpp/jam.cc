// A bot for Jam: it wins tricks with the lowest card that wins, and keeps high cards for streaks.
//
// Each card is played once, so only the order matters. The bot collects high cards: it discards low cards
// while there is a stock, ends the other seat's streaks before they score, and continues its own.

#include <algorithm>
#include <cardarena/jam.hpp>
#include <utility>

namespace jam = cardarena::jam;
namespace cards = cardarena::cards;

namespace {

constexpr int ten = 8;  // indexes in cards::ranks
constexpr int jack = 9;
constexpr int late = 18;  // after this number of tricks, every trick matters

/// The card of a move, empty if it has none.
std::string card_of(const jam::Move& move) {
  if (const auto* play = std::get_if<jam::moves::Play>(&move)) {
    return play->card;
  }
  const auto* discard = std::get_if<jam::moves::Discard>(&move);
  return discard == nullptr ? "" : discard->card;
}

bool by_rank(const jam::Move& one, const jam::Move& other) {
  return cards::rank(card_of(one)) < cards::rank(card_of(other));
}

/// The seat that won the last trick, and the number of tricks that it won in a row.
std::pair<int, int> streak(const jam::View& view) {
  int who = -1;
  int length = 0;
  for (auto winner = view.winners().rbegin(); winner != view.winners().rend(); ++winner) {
    if (length > 0 && static_cast<int>(*winner) != who) {
      break;
    }
    who = static_cast<int>(*winner);
    ++length;
  }
  return {who, length};
}

jam::Choice draw(const jam::Ask& ask) {
  const auto& pile = ask.view.discards(ask.match().seat).cards();
  const bool takes = !pile.empty() && cards::rank(*pile.rbegin()) >= ten;
  const jam::Move wanted = jam::moves::Draw(takes ? jam::source_discards : jam::source_stock);
  const auto found = std::find(ask.moves.begin(), ask.moves.end(), wanted);
  return found == ask.moves.end() ? jam::index(0) : jam::choose(*found);
}

/// A reply to a lead. The moves are sorted by rank.
jam::Move follow(const jam::Ask& ask, const std::vector<jam::Move>& moves) {
  const int led = cards::rank(ask.view.led());
  const auto wins = std::find_if(moves.begin(), moves.end(),
                                 [&](const auto& move) { return cards::rank(card_of(move)) > led; });
  if (wins == moves.end()) {
    return moves.front();
  }
  // An early trick outside a streak is worth a jack at most.
  const bool matters = streak(ask.view).second >= 2 || ask.view.winners_size() >= late;
  return matters || cards::rank(card_of(*wins)) <= jack ? *wins : moves.front();
}

jam::Choice move(jam::Ask& ask) {
  auto moves = ask.moves;
  std::stable_sort(moves.begin(), moves.end(), by_rank);
  if (ask.view.phase() == jam::phase_draw) {
    return draw(ask);
  }
  if (ask.view.phase() == jam::phase_discard) {
    return jam::choose(moves.front());  // discard the lowest card
  }
  if (ask.view.phase() == jam::phase_follow) {
    return jam::choose(follow(ask, moves));
  }
  if (const auto [who, length] = streak(ask.view); length >= 2 && who == ask.match().seat) {
    return jam::choose(moves.back()).with_note("for four or five in a row");
  }
  return jam::choose(moves[moves.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) { return cardarena::run(argc, argv, jam::player("jam", move)); }
