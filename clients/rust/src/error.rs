//! The errors of play.

use std::fmt;

/// Why play ended with an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The arena does not accept this bot. Another attempt would give the same result.
    Refused(String),
    /// The bot could not connect to the arena within the time it had.
    Unreachable(String),
    /// The options do not work together, name a bad file, or would send the token unprotected.
    #[non_exhaustive]
    Misconfigured {
        /// What is wrong.
        what: String,
        /// The error behind it, such as that of a file that cannot be read.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The arena lied about its deals. The bot plays to the end; then play returns this error.
    Lied {
        /// The lies, one sentence each.
        lies: Vec<String>,
        /// The other error with which play ended. None if play ended in order.
        other: Option<Box<Error>>,
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

    /// The exit code for this error. All SDKs use the same codes.
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

/// The text of an error with those of its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let message = next.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        cause = next.source();
    }
    text
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lied { other: Some(other), .. } => Some(other.as_ref()),
            Self::Misconfigured { source: Some(source), .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
