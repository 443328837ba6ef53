//! How play may fail.

use std::fmt;

/// Why play ended, if not in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The arena will not play with this bot, and asking again would not help.
    Refused(String),
    /// The arena could not be reached for as long as the bot was to try.
    Unreachable(String),
    /// The bot was told to connect in a way that cannot work or is not safe.
    Misconfigured(String),
    /// The arena was caught at lies about its deals. A bot that was lied to plays on; the error comes
    /// when play is over.
    Lied {
        /// What it was caught at.
        lies: Vec<String>,
        /// How play ended besides; none if in order.
        besides: Option<Box<Error>>,
    },
}

impl Error {
    /// The exit code of a program that ends so, the same in every language.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unreachable(_) => 1,
            Self::Refused(_) | Self::Misconfigured(_) => 2,
            Self::Lied { .. } => 3,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) | Self::Unreachable(why) | Self::Misconfigured(why) => {
                f.write_str(why)
            }
            Self::Lied { lies, .. } => f.write_str(&lies.join("\n")),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lied { besides: Some(besides), .. } => Some(besides.as_ref()),
            _ => None,
        }
    }
}
