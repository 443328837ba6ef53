// Cards, moves, asks and choices.

#include <doctest/doctest.h>

#include <cardarena/abstrac.hpp>
#include <cardarena/arlington.hpp>
#include <cardarena/chinese_poker.hpp>
#include <cardarena/democracy.hpp>
#include <cardarena/eleusis.hpp>
#include <cardarena/jam.hpp>
#include <cardarena/klaberjass.hpp>
#include <cardarena/loo.hpp>
#include <cardarena/oklahoma_rummy.hpp>
#include <cardarena/open_face_chinese_poker.hpp>
#include <cardarena/pineapple.hpp>
#include <cardarena/sixty_six.hpp>
#include <cardarena/soko.hpp>
using namespace cardarena;

TEST_CASE("cards are parsed and sorted") {
  auto found = cards::parse("As Kd2cJk 2d");
  cards::sort(found);
  CHECK(found == std::vector<std::string>{"2c", "2d", "Kd", "As", "Jk"});
  CHECK(cards::rank("Td") == 8);
  CHECK(cards::suit("Td") == 1);
  CHECK(cards::rank(cards::joker) == -1);
  for (const auto* text : {"1c", "Ax", "A", "AsK", "jk"}) {
    CHECK_THROWS_AS(cards::parse(text), std::invalid_argument);
  }
}

TEST_CASE("a constructor of moves refuses what no move has") {
  CHECK_THROWS_AS(jam::moves::Play("1c"), std::invalid_argument);
  CHECK_THROWS_AS(jam::moves::Draw(jam::Source{}), std::invalid_argument);
  CHECK_THROWS_AS(jam::moves::Draw(static_cast<jam::Source>(9)), std::invalid_argument);
  CHECK_THROWS_AS(arlington::moves::LeadSet({"Td", "Xd"}), std::invalid_argument);
  CHECK(jam::moves::Play("Td").card == "Td");
}

TEST_CASE("a move is the same after its message") {
  const jam::Move draw = jam::moves::Draw(jam::source_discards);
  CHECK(jam::Game::move(jam::Game::message(draw)) == draw);
  games::v1::JamMove newer;
  newer.set_verb(static_cast<games::v1::JamVerb>(99));
  CHECK(std::holds_alternative<jam::moves::Other>(jam::Game::move(newer)));
  CHECK(jam::Game::message(jam::Game::move(newer)).verb() == newer.verb());
}

TEST_CASE("an ask for a test has its view and moves, and the choice of one stands for it") {
  jam::View view;
  view.set_phase(jam::phase_draw);
  const jam::Move stock = jam::moves::Draw(jam::source_stock);
  const auto ask = jam::ask(view, {stock, jam::moves::Draw(jam::source_discards)});
  CHECK(ask.view.phase() == jam::phase_draw);
  CHECK(ask.moves.size() == 2);
  CHECK(ask.match().game == "jam");
  CHECK(ask.untyped.time_left() > std::chrono::seconds(50));
  CHECK(ask.chosen(jam::index(0)) == stock);
  CHECK(ask.chosen(jam::choose(stock).with_note("a note")) == stock);
  CHECK_THROWS_WITH_AS(ask.chosen(jam::index(2)), "move index 2 is out of range: 2 moves are offered",
                       std::invalid_argument);
  CHECK_THROWS_AS(ask.chosen(jam::choose(jam::moves::Play("Td"))), std::invalid_argument);
  const auto of_soko = Choice::move(soko::Game::field, "");
  CHECK_THROWS_WITH_AS(of_soko.chosen(ask.untyped), "the move is not of jam", std::invalid_argument);
}

TEST_CASE("a bet is within its range") {
  soko::View view;
  CHECK_FALSE(soko::bets(view));
  view.set_min_to(20);
  view.set_max_to(60);
  const Bets bets = *soko::bets(view);
  CHECK(bets.at(20) == 20);
  CHECK(bets.nearest(90) == 60);
  CHECK(bets.nearest(1) == 20);
  CHECK_THROWS_WITH_AS(bets.at(61), "a bet to 61 is out of range: write 20 to 60", std::invalid_argument);
}

TEST_CASE("random numbers follow from the seed, the same with every compiler") {
  std::array<std::uint8_t, 32> seed{};
  Random one(seed);
  Random other(seed);
  CHECK(one() == 12755971370500816620U);
  other();
  for (std::size_t end = 1; end < 50; ++end) {
    const auto drawn = one.below(end);
    CHECK(drawn < end);
    CHECK(drawn == other.below(end));
  }
  CHECK_THROWS_AS(one.below(0), std::invalid_argument);
}

TEST_CASE("each family has the ids of its games") {
  CHECK(all_games().size() == 19);
  CHECK(games_of("pineapple") ==
        std::vector<std::string>{"pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"});
  CHECK(games_of("chess").empty());
  CHECK(jam::player("mine", [](jam::Ask&) { return jam::index(0); }).games ==
        std::vector<std::string>{"jam"});
}
