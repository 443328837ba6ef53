//! Random plays every game: it picks one of the offered moves at random.

use std::process::ExitCode;

use cardarena::{AnyGame, Ask, BotError, Choice, Match, Player};

fn choose(ask: &Ask<AnyGame>) -> Result<Choice<AnyGame>, BotError> {
    Ok(Choice::index(fastrand::usize(..ask.moves.len())))
}

fn main() -> ExitCode {
    cardarena::run(Player::new("random", |_: &Match| choose))
}
