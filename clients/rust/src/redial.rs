//! When a bot comes back, where to, and when it stops.

use std::time::{Duration, Instant};

use tonic::Code;

use crate::Error;

const BACKOFF_BASE: Duration = Duration::from_millis(200);
const BACKOFF_CAP: Duration = Duration::from_secs(30);
/// A stream that lived this long makes up for all failures before it.
const STEADY: Duration = Duration::from_secs(10);
/// How long a bot that plays once tries to reach its arena.
const PATIENCE: Duration = Duration::from_secs(10);
/// Redirects in a row that are followed at once; further ones wait as failures do.
const MAX_HOPS: u32 = 4;

/// Why trying again would change nothing after a status; none if it might.
fn finality(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Unauthenticated => "the arena does not take this token",
        Code::PermissionDenied => "the arena does not let this token play",
        Code::FailedPrecondition => "the arena turned the bot away",
        Code::InvalidArgument => "the arena did not accept what the bot said of itself",
        Code::Aborted => "another bot took over with the same token; each needs its own",
        Code::Unimplemented => "this server is no arena, or one of another version",
        _ => return None,
    })
}

/// Reasons of RESOURCE_EXHAUSTED that pass; any other is a mistake of the client's.
const PASSING: [&str; 3] = ["BUSY", "TOO_MANY_OPEN", "NOT_READING"];

/// How a stream ended.
#[derive(Clone, Debug)]
pub(crate) struct StreamEnd {
    pub code: Code,
    pub details: String,
    pub welcomed: bool,
    pub lived: Duration,
    pub draining: bool,
    pub redirect: Option<String>,
    pub retry: Duration,
    pub reason: String,
}

impl StreamEnd {
    pub fn new(code: Code, details: impl Into<String>) -> Self {
        Self {
            code,
            details: details.into(),
            welcomed: false,
            lived: Duration::ZERO,
            draining: false,
            redirect: None,
            retry: Duration::ZERO,
            reason: String::new(),
        }
    }

    /// The reason in short.
    pub fn short(&self) -> String {
        if self.details.is_empty() { format!("{:?}", self.code) } else { self.details.clone() }
    }
}

/// One more stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub endpoint: String,
    pub delay: Duration,
}

/// Draws a time between 0 and the longest.
pub(crate) type Jitter = Box<dyn FnMut(Duration) -> Duration + Send>;

/// Decides after each stream whether there is another: with full jitter, and where.
pub(crate) struct Redial {
    address: String,
    once: bool,
    jitter: Jitter,
    failures: u32,
    hops: u32,
    endpoint: String,
    reached: Instant,
}

impl Redial {
    pub fn new(address: String, once: bool, jitter: Jitter, now: Instant) -> Self {
        let endpoint = address.clone();
        Self { address, once, jitter, failures: 0, hops: 0, endpoint, reached: now }
    }

    pub fn first(&self) -> Attempt {
        Attempt { endpoint: self.address.clone(), delay: Duration::ZERO }
    }

    /// The stream that follows one that ended so; none if it was the last.
    pub fn after(&mut self, end: &StreamEnd, now: Instant) -> Result<Option<Attempt>, Error> {
        if end.welcomed {
            self.reached = now;
        }
        if end.lived >= STEADY {
            (self.failures, self.hops) = (0, 0);
        }
        if let Some(endpoint) = &end.redirect {
            self.endpoint.clone_from(endpoint);
            self.hops += 1;
            let delay =
                if self.hops <= MAX_HOPS { Duration::ZERO } else { self.delay(Duration::ZERO) };
            return Ok(Some(Attempt { endpoint: endpoint.clone(), delay }));
        }
        if let Some(words) = finality(end.code) {
            let details = match end.details.as_str() {
                "" => String::new(),
                details => format!(" ({details})"),
            };
            return Err(Error::Refused(format!("{words}{details}")));
        }
        if end.code == Code::ResourceExhausted && !PASSING.contains(&end.reason.as_str()) {
            let why = end.short();
            return Err(Error::Refused(format!(
                "the arena takes no more of what this bot says ({why})"
            )));
        }
        if end.code == Code::Ok && (self.once || end.draining) {
            return Ok(None);
        }
        if !end.welcomed {
            self.endpoint.clone_from(&self.address);
        }
        let mut delay = self.delay(end.retry);
        if self.once {
            let left = PATIENCE.saturating_sub(now.duration_since(self.reached));
            if left.is_zero() {
                let (address, why) = (&self.address, end.short());
                return Err(Error::Unreachable(format!(
                    "no arena at {address} for {PATIENCE:?} ({why})"
                )));
            }
            delay = delay.min(left);
        }
        Ok(Some(Attempt { endpoint: self.endpoint.clone(), delay }))
    }

    /// Comes on top of what the arena asked for. As many bots were told the same, they spread over
    /// as much time again.
    fn delay(&mut self, retry: Duration) -> Duration {
        let most = BACKOFF_CAP.min(BACKOFF_BASE * (1 << self.failures.min(16)));
        self.failures += 1;
        retry + (self.jitter)(most.max(retry))
    }
}

#[cfg(test)]
mod tests;
