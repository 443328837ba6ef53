//! Decides after each stream whether, when and where the bot connects again.

use std::time::{Duration, Instant};

use tonic::Code;

use crate::error::Error;

const BACKOFF_BASE: Duration = Duration::from_millis(200);
const BACKOFF_CAP: Duration = Duration::from_secs(30);
/// A stream that was open this long resets the backoff.
const RESETS_BACKOFF: Duration = Duration::from_secs(10);
/// How long a bot with `once` tries to connect.
const ONCE_TIMEOUT: Duration = Duration::from_secs(10);
/// Redirects in a row that are followed without delay. Further ones wait as after a failure.
const MAX_IMMEDIATE_REDIRECTS: u32 = 4;

/// Why the arena refused the bot. None if another attempt could succeed.
fn refusal_of(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Unauthenticated => "the arena rejected the token",
        Code::PermissionDenied => "the token does not allow to play at this arena",
        Code::FailedPrecondition => "the arena rejected the bot",
        Code::InvalidArgument => "the arena rejected the bot's hello message",
        Code::Aborted => "another bot connected with the same token; use a token for each bot",
        Code::Unimplemented => {
            "the server is not an arena, or speaks another version of the protocol"
        }
        _ => return None,
    })
}

/// The reasons of RESOURCE_EXHAUSTED that go away by themselves. Any other is the bot's mistake.
const TEMPORARY_REASONS: [&str; 3] = ["BUSY", "TOO_MANY_OPEN", "NOT_READING"];

/// How a stream ended.
#[derive(Clone, Debug)]
pub(crate) struct StreamEnd {
    pub code: Code,
    pub details: String,
    pub welcomed: bool,
    /// How long the stream was open.
    pub open_for: Duration,
    pub draining: bool,
    pub redirect: Option<String>,
    /// The delay that the arena requested.
    pub retry_delay: Duration,
    /// The reason of google.rpc.ErrorInfo. Empty without one.
    pub reason: String,
}

impl StreamEnd {
    pub fn new(code: Code, details: impl Into<String>) -> Self {
        Self {
            code,
            details: details.into(),
            welcomed: false,
            open_for: Duration::ZERO,
            draining: false,
            redirect: None,
            retry_delay: Duration::ZERO,
            reason: String::new(),
        }
    }

    /// The status in one line.
    pub fn summary(&self) -> String {
        if self.details.is_empty() { format!("{:?}", self.code) } else { self.details.clone() }
    }
}

/// The next stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub endpoint: String,
    pub delay: Duration,
}

/// Draws a random time between 0 and a maximum.
pub(crate) type Jitter = Box<dyn FnMut(Duration) -> Duration + Send>;

/// Decides after each stream whether, when and where the bot connects again. Delays grow
/// exponentially, with full jitter.
pub(crate) struct Redial {
    address: String,
    once: bool,
    jitter: Jitter,
    failures: u32,
    redirects: u32,
    endpoint: String,
    connected_at: Instant,
}

impl Redial {
    pub fn new(address: String, once: bool, jitter: Jitter, now: Instant) -> Self {
        let endpoint = address.clone();
        Self { address, once, jitter, failures: 0, redirects: 0, endpoint, connected_at: now }
    }

    pub fn first(&self) -> Attempt {
        Attempt { endpoint: self.address.clone(), delay: Duration::ZERO }
    }

    /// The next stream after one that ended. None if play is over.
    pub fn after(&mut self, end: &StreamEnd, now: Instant) -> Result<Option<Attempt>, Error> {
        if end.welcomed {
            self.connected_at = now;
        }
        if end.open_for >= RESETS_BACKOFF {
            (self.failures, self.redirects) = (0, 0);
        }
        if let Some(endpoint) = &end.redirect {
            self.endpoint.clone_from(endpoint);
            self.redirects += 1;
            let delay = if self.redirects <= MAX_IMMEDIATE_REDIRECTS {
                Duration::ZERO
            } else {
                self.delay(Duration::ZERO)
            };
            return Ok(Some(Attempt { endpoint: endpoint.clone(), delay }));
        }
        if let Some(why) = refusal_of(end.code) {
            let details = match end.details.as_str() {
                "" => String::new(),
                details => format!(" ({details})"),
            };
            return Err(Error::Refused(format!("{why}{details}")));
        }
        if end.code == Code::ResourceExhausted && !TEMPORARY_REASONS.contains(&end.reason.as_str())
        {
            let why = end.summary();
            return Err(Error::Refused(format!(
                "the arena closed the stream because the bot exceeded a limit ({why})"
            )));
        }
        if end.code == Code::Ok && (self.once || end.draining) {
            return Ok(None);
        }
        if !end.welcomed {
            self.endpoint.clone_from(&self.address);
        }
        let mut delay = self.delay(end.retry_delay);
        if self.once {
            let left = ONCE_TIMEOUT.saturating_sub(now.duration_since(self.connected_at));
            if left.is_zero() {
                let (address, why) = (&self.address, end.summary());
                return Err(Error::Unreachable(format!(
                    "no connection to the arena at {address} for {ONCE_TIMEOUT:?} ({why})"
                )));
            }
            delay = delay.min(left);
        }
        Ok(Some(Attempt { endpoint: self.endpoint.clone(), delay }))
    }

    /// The delay before the next stream: what the arena requested, and a random time on top. Many
    /// bots may have the same request, so the random time is at least as long.
    fn delay(&mut self, requested: Duration) -> Duration {
        let max = BACKOFF_CAP.min(BACKOFF_BASE * (1 << self.failures.min(16)));
        self.failures += 1;
        requested + (self.jitter)(max.max(requested))
    }
}

#[cfg(test)]
mod tests;
