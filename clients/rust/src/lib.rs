//! Bots for Card Arena.
//!
//! A bot is a type with one method, [`Bot::choose`], generic in its game; each game has a module of
//! its own types, as [`jam`], and [`AnyGame`] is for bots that play all of them. [`run`] is the
//! whole program, [`play`] is for programs that have more to do.
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
//!         Ok(Choice::index(0).note("the first will do"))
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     cardarena::run(Player::new("mybot", |_| MyBot))
//! }
//! ```
//!
//! The crate keeps the contract of `proto/cardarena/v1/play.proto`: it comes back when a stream is
//! lost, says no answer twice differently, follows redirects, and takes part in fair deals and
//! checks them. A bot never holds up its stream: each match has a thread of its own, and
//! [`Ask::wanted`] says whether the answer still is.

mod any_game;
mod ask;
mod bot;
pub mod cards;
mod connection;
mod deals;
mod dial;
mod error;
mod families;
mod hashes;
mod outbox;
mod play;
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

/// The messages of the games, as they are on the wire.
pub mod games {
    #[allow(missing_docs, clippy::all, clippy::pedantic)]
    pub mod v1;
}
/// The messages between bot and arena, as they are on the wire.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod v1;

pub use any_game::{AnyGame, AnyView};
pub use ask::{Ask, Match, MatchEnd};
pub use bot::{BatchBot, Bot, BotError, Choice, Game, NotWanted, Player};
pub use error::Error;
pub use families::ALL as ALL_GAMES;
pub use run::{Options, VERSION, play, run, run_with};
