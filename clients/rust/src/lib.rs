//! Bots for Card Arena.
//!
//! A bot is a type with one method, [`Bot::choose`]. The trait is generic in the game: each game
//! has a module with its types, such as [`jam`], and [`AnyGame`] stands for all games. [`run`] is a
//! complete program; [`play`] is for programs that do more.
//!
//! ```no_run
//! use cardarena::jam::{Ask, Choice, Jam, Move, Phase, Source};
//! use cardarena::{Bot, BotError, Player};
//!
//! struct MyBot;
//!
//! impl Bot<Jam> for MyBot {
//!     fn choose(&mut self, ask: &Ask) -> Result<Choice, BotError> {
//!         if ask.view.phase() == Phase::Draw {
//!             return Ok(Move::draw(Source::Stock).into());
//!         }
//!         Ok(Choice::index(0).note("the first move"))
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     cardarena::run(Player::new("mybot", |_| MyBot))
//! }
//! ```
//!
//! The crate implements the contract of `proto/cardarena/v1/play.proto`. It reconnects after a lost
//! stream, repeats answers, follows redirects, and takes part in fair deals and checks them. Each
//! match has a thread, so a bot that searches for a long time does not block the stream.
//! [`Ask::is_open`] says whether the arena still waits for the answer. [`Ask::new`] makes an ask for
//! the test of a bot.
//!
//! # Features
//!
//! `program`, on by default, has [`run`], [`run_with`] and flags for [`Options`]. It needs clap and
//! tracing-subscriber. A program with a runtime and a log of its own needs [`play`] alone.

mod any_game;
mod ask;
mod ask_body;
mod ask_times;
mod bot;
mod bot_runner;
pub mod cards;
mod connection;
mod deal_set;
mod deals;
mod dial;
mod error;
mod families;
mod game;
mod hashes;
pub mod local;
mod options;
mod outbox;
#[cfg(feature = "program")]
mod program;
mod receipts;
mod redial;
mod run;
mod session;
mod wire;

pub mod abstrac;
pub mod arlington;
pub mod chinese_poker;
pub mod democracy;
pub mod eleusis;
pub mod jam;
pub mod klaberjass;
pub mod loo;
pub mod oklahoma_rummy;
pub mod open_face_chinese_poker;
pub mod pineapple;
pub mod sixty_six;
pub mod soko;

/// The protobuf messages of the games.
pub mod games {
    #[allow(missing_docs, clippy::all, clippy::pedantic)]
    pub mod v1;
}
/// The protobuf messages between bot and arena.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod v1;

pub use any_game::{AnyGame, AnyView};
pub use ask::{Ask, Match, MatchEnd};
pub use bot::{Abandoned, BatchBot, Bot, BotError, Choice, Player};
pub use error::Error;
pub use families::ALL as ALL_GAMES;
pub use game::Game;
pub use options::Options;
#[cfg(feature = "program")]
pub use program::{run, run_with};
pub use run::{VERSION, play};
