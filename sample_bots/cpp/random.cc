// Plays every game: it picks one of the offered moves at random.

#include <cardarena/cardarena.hpp>

int main(int argc, char** argv) {
  return cardarena::run(argc, argv, cardarena::player("random", [](cardarena::Ask& ask) {
                          return cardarena::Choice::index(ask.random().below(ask.move_count()));
                        }));
}
