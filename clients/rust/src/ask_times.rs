//! The time of a match's asks in the bot's own queue and on the network.

use std::time::{Duration, Instant};

/// The number of asks before the first note of their times.
const FEWEST_ASKS: u32 = 4;
/// The mean time of an ask in the queue and on the network from which there is a note.
const NOTED: Duration = Duration::from_millis(10);

/// Times that only the bot's side can tell from thinking. Notes of them are due after 4, 8, 16 … asks that the
/// bot answered.
#[derive(Default)]
pub(crate) struct AskTimes {
    asks: u32,
    queue: Duration,
    measured: u32,
    network: Duration,
    pub due: bool,
    arrived_at: Option<Instant>,
    pub delivered_at: Option<Instant>,
    pub answered_at: Option<Instant>,
}

impl AskTimes {
    /// Begins with the next ask. The round trip is that of the ask before, if it is known.
    pub fn arrived(&mut self, now: Instant, last_round_trip: Option<Duration>) {
        if let (Some(arrived), Some(delivered), Some(answered)) =
            (self.arrived_at, self.delivered_at, self.answered_at)
        {
            self.asks += 1;
            self.queue += delivered - arrived;
            if let Some(trip) = last_round_trip {
                self.measured += 1;
                self.network += trip.saturating_sub(answered - arrived);
            }
            if self.asks >= FEWEST_ASKS && self.asks.is_power_of_two() {
                self.due = self.queue + self.network >= NOTED * self.asks;
            }
        }
        (self.arrived_at, self.delivered_at, self.answered_at) = (Some(now), None, None);
    }

    /// The note that `arena match why` reads. It is due again after twice as many asks.
    pub fn note(&mut self) -> String {
        self.due = false;
        let (queue, network) = (self.queue.as_secs_f64(), self.network.as_secs_f64());
        format!(
            "times: {} asks waited {queue:.3} s in the own queue; {} took {network:.3} s on the network",
            self.asks, self.measured
        )
    }
}
