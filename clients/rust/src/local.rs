//! Plays on this machine without a server, by the engine's command `arena play`.
//!
//! ```no_run
//! let bots = ["target/debug/mybot", "target/debug/mybot"];
//! let played = cardarena::local::play("jam", &bots, &["--seed", "7"])?;
//! assert!(played.faults.is_empty());
//! # Ok::<(), cardarena::local::LocalError>(())
//! ```

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The result of a match that the engine played on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalMatch {
    /// `completed`, `forfeit` or `aborted`.
    pub ending: String,
    /// Points by seat, in the game's unit.
    pub scores: Vec<i64>,
    /// The faults of all seats, in the order in which they happened.
    pub faults: Vec<LocalFault>,
    /// The match's replay.
    pub replay: PathBuf,
}

/// A fault of a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalFault {
    /// The seat, from 0.
    pub seat: u64,
    /// The kind of fault, such as `illegal`, in the engine's words.
    pub kind: String,
    /// What was wrong.
    pub reason: String,
}

/// Why no match was played.
#[derive(Debug)]
pub enum LocalError {
    /// The engine is not installed.
    NoEngine,
    /// The engine could not play. The text is what it said.
    Failed(String),
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEngine => f.write_str(
                "the command \"arena\" of the engine is not in PATH: \
                 pip install 'cardarena-engine[server]'",
            ),
            Self::Failed(why) => write!(f, "the engine could not play: {why}"),
        }
    }
}

impl std::error::Error for LocalError {}

/// Plays a match between programs of this machine.
///
/// The bots are commands by seat. The engine starts them in the working directory. The flags are
/// those of `arena play --help`.
///
/// # Errors
///
/// If the engine is not installed or could not play. A fault of a bot is no error.
pub fn play(game: &str, bots: &[&str], flags: &[&str]) -> Result<LocalMatch, LocalError> {
    let ran =
        Command::new("arena").args(["play", game]).args(bots).arg("--json").args(flags).output();
    let out = ran.map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => LocalError::NoEngine,
        _ => LocalError::Failed(why.to_string()),
    })?;
    // The exit code also tells whether a bot failed, after a match that was played.
    serde_json::from_slice(&out.stdout)
        .ok()
        .and_then(|told| result_of(&told))
        .ok_or_else(|| LocalError::Failed(String::from_utf8_lossy(&out.stderr).trim().to_owned()))
}

fn result_of(told: &Value) -> Option<LocalMatch> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let fault = |fault: &Value| {
        Some(LocalFault {
            seat: fault["seat"].as_u64()?,
            kind: text(&fault["kind"])?,
            reason: text(&fault["reason"])?,
        })
    };
    Some(LocalMatch {
        ending: text(&told["ending"])?,
        scores: told["scores"].as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?,
        faults: told["faults"].as_array()?.iter().map(fault).collect::<Option<_>>()?,
        replay: text(&told["replay"])?.into(),
    })
}

#[cfg(test)]
mod tests;
