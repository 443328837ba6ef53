//! Plays as a program with a command line.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use tracing::error;

use crate::bot::Player;
use crate::error::{Error, with_causes};
use crate::options::Options;
use crate::run::play;

/// The exit code after SIGINT.
const INTERRUPTED: u8 = 130;

/// A bot for Card Arena.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

/// Plays as a program: parses the command line, logs to stderr, and returns the exit code.
///
/// | exit code | when |
/// | --- | --- |
/// | 0 | the arena ended play |
/// | 1 | the arena is unreachable |
/// | 2 | the arena refused the bot, or an option is wrong |
/// | 3 | the arena lied about its deals |
/// | 130 | SIGINT |
///
/// A wrong flag and `--help` end the program.
///
/// # Panics
///
/// Inside a tokio runtime, because it starts one of its own.
pub fn run(player: Player) -> ExitCode {
    run_with(player, Flags::parse().options)
}

/// Plays as [`run`] does, for a program that parses its own command line.
pub fn run_with(player: Player, options: Options) -> ExitCode {
    // This fails if the program has set up logging itself.
    let _ = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false).try_init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(why) => {
            error!("cannot start the event loop: {why}");
            return ExitCode::from(1);
        }
    };
    let code = runtime.block_on(async {
        tokio::select! {
            played = play(player, options) => match played {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    if let Error::Lied { other: Some(other), .. } = &why {
                        error!("{}", with_causes(other));
                        error!("{why}");
                    } else {
                        error!("{}", with_causes(&why));
                    }
                    ExitCode::from(why.exit_code())
                }
            },
            _ = tokio::signal::ctrl_c() => ExitCode::from(INTERRUPTED),
        }
    });
    runtime.shutdown_background(); // after SIGINT, do not wait for a bot to return
    code
}
