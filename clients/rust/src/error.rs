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
    #[non_exhaustive]
    Misconfigured {
        /// What is wrong.
        what: String,
        /// The error that told of it, as of a file that cannot be read.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
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
    pub(crate) fn misconfigured(what: impl Into<String>) -> Self {
        Self::Misconfigured { what: what.into(), source: None }
    }

    pub(crate) fn misconfigured_by(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Misconfigured { what: what.into(), source: Some(source.into()) }
    }

    /// The exit code of a program that ends so, the same in every language.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unreachable(_) => 1,
            Self::Refused(_) | Self::Misconfigured { .. } => 2,
            Self::Lied { .. } => 3,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(what) | Self::Unreachable(what) | Self::Misconfigured { what, .. } => {
                f.write_str(what)
            }
            Self::Lied { lies, .. } => f.write_str(&lies.join("\n")),
        }
    }
}

/// An error with its causes, the last of which says most.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = next.source();
    }
    text
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lied { besides: Some(besides), .. } => Some(besides.as_ref()),
            Self::Misconfigured { source: Some(source), .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
