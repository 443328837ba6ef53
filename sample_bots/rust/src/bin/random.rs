//! Random plays every game: it picks one of the offered moves at random.

use std::process::ExitCode;

use cardarena::{AnyGame, Ask, BotError, Choice, Match, Player};

fn choose(ask: &Ask<AnyGame>) -> Result<Choice<AnyGame>, BotError> {
    Ok(Choice::index(ask.random().usize(..ask.moves.len())))
}

fn main() -> ExitCode {
    cardarena::run(Player::new("random", |_: &Match| choose))
}
