//! The state of a bot at the arena, across all its streams.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::ask::{Match, UntypedAsk, UntypedEnd};
use crate::ask_times::AskTimes;
use crate::deal_set::deal_name;
use crate::deals::{Deals, Reaction};
use crate::outbox::Outbox;
use crate::v1::{self, arena_message::Body, bot_message};
use crate::wire;

/// The contract version that this SDK supports.
pub(crate) const CONTRACT: u32 = 1;
const DEFAULT_NOTE_CHARS: usize = 200;
/// The maximum number of remembered ends of matches. An arena repeats at most the last 64.
const MAX_REMEMBERED_ENDS: usize = 1024;

/// The state of a bot at the arena, across all its streams.
///
/// It reads no socket and no clock, and does not call the bot.
///
/// An ask is queued, then delivered to the bot, then answered. The arena can settle it at any time.
/// The arena does not acknowledge answers. The session therefore keeps an answer until the next ask
/// of the match: if the arena repeats the ask, the session repeats the answer and does not call the
/// bot again.
pub(crate) struct Session {
    hello: v1::Hello,
    ask_forced: bool,
    /// None if the bot takes no part in fair deals.
    pub deals: Option<Deals>,
    /// Of the current stream. None without a stream.
    out: Option<Arc<Outbox>>,
    /// Whether the arena sent welcome on the current stream.
    welcomed: bool,
    draining: bool,
    epoch: u32,
    limits: v1::Limits,
    seats: BTreeMap<u32, Seat>,
    /// By ask id, the matches whose last ask is open.
    open: HashMap<u64, u32>,
    /// Matches whose end the arena has sent.
    ended: HashSet<u32>,
    ended_oldest_first: VecDeque<u32>,
    tasks: Vec<BotTask>,
    /// Queued asks that no bot thread has taken yet.
    queued_asks: usize,
    /// Asks that a bot thread has taken and not answered yet.
    taken_asks: usize,
    /// The match of the last answer, of which is the arena's last round trip. None if it was sent again.
    last_answered: Option<u32>,
}

/// The bot's seat at a match.
struct Seat {
    game_match: Arc<Match>,
    last: Option<LastAsk>,
    times: AskTimes,
}

/// The last ask of a match.
struct LastAsk {
    ask: Arc<UntypedAsk>,
    open: bool,
    delivered: bool,
    answer: Option<v1::Answer>,
}

impl Seat {
    /// Asks that the bot did not receive, oldest first.
    fn undelivered(&self) -> Vec<Arc<UntypedAsk>> {
        match &self.last {
            Some(last) if !last.delivered => {
                last.ask.undelivered.iter().cloned().chain([last.ask.clone()]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A call of the bot that is due.
pub(crate) enum BotTask {
    Started(Arc<Match>),
    Ask(Arc<UntypedAsk>),
    Ended(UntypedEnd),
}

impl BotTask {
    pub fn match_number(&self) -> u32 {
        match self {
            Self::Started(game_match) => game_match.number(),
            Self::Ask(ask) => ask.game_match.number(),
            Self::Ended(end) => end.game_match.number(),
        }
    }
}

/// What to do about a message of the arena.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Lines for the log.
    pub warnings: Vec<String>,
    pub welcomed: bool,
    pub redirect: Option<String>,
    /// Why the bot cannot play at this arena. None if it can.
    pub refused: Option<String>,
}

impl Session {
    pub fn new(hello: v1::Hello, ask_forced: bool, deals: Option<Deals>) -> Self {
        Self {
            hello,
            ask_forced,
            deals,
            out: None,
            welcomed: false,
            draining: false,
            epoch: 0,
            limits: v1::Limits::default(),
            seats: BTreeMap::new(),
            open: HashMap::new(),
            ended: HashSet::new(),
            ended_oldest_first: VecDeque::new(),
            tasks: Vec::new(),
            queued_asks: 0,
            taken_asks: 0,
            last_answered: None,
        }
    }

    // The connection calls these.

    /// Starts a stream, whose first message is hello.
    pub fn stream_opened(&mut self, out: &Arc<Outbox>) {
        self.welcomed = false;
        if let Some(deals) = &mut self.deals {
            deals.on_stream();
        }
        out.put([v1::BotMessage { body: Some(bot_message::Body::Hello(self.hello.clone())) }]);
        out.set_asks(self.queued_asks, self.taken_asks);
        self.out = Some(out.clone());
    }

    /// Ends the stream, and returns whether the arena was draining. Open asks stay open until the
    /// next welcome.
    pub fn stream_lost(&mut self) -> bool {
        self.welcomed = false;
        if let Some(out) = self.out.take() {
            out.close();
        }
        self.draining
    }

    /// Ends play: no stream follows.
    pub fn finish(&mut self) {
        self.open.clear();
        for seat in std::mem::take(&mut self.seats).into_values() {
            if let Some(last) = seat.last {
                last.ask.set_open(false);
            }
        }
    }

    /// Processes a message of the arena. `raw` has its bytes.
    pub fn receive(&mut self, raw: &[u8], message: v1::ArenaMessage, now: Instant) -> Received {
        let mut received = Received::default();
        match message.body {
            Some(Body::Asks(asks)) => {
                self.on_asks(&mut received, asks.asks, &wire::ask_payloads(raw), now);
            }
            Some(Body::AskClosed(closed)) => self.on_ask_closed(&mut received, &closed),
            Some(Body::MatchStart(start)) => self.on_match_start(&mut received, start),
            Some(Body::MatchEnd(end)) => {
                self.on_match_end(&mut received, end, &wire::trailing_event_payloads(raw));
            }
            Some(Body::Welcome(welcome)) => {
                self.on_welcome(&mut received, welcome, &wire::open_ask_payloads(raw), now);
            }
            Some(Body::Refusal(refusal)) => {
                let deal = match refusal.deal_context.as_slice() {
                    [] => String::new(),
                    context => format!("deal-set {}: ", deal_name(context)),
                };
                let reason = lower_name(refusal.reason().as_str_name(), "REFUSAL_REASON_");
                let line = format!("{deal}refused ({reason}): {}", refusal.text);
                received.warnings.push(line);
            }
            Some(Body::Drain(drain)) => {
                self.draining = true;
                let left = Duration::from_millis(drain.deadline_ms.into());
                let line = format!("the arena shuts down in {left:?}; running matches continue");
                received.warnings.push(line);
            }
            Some(Body::Redirect(redirect)) => received.redirect = Some(redirect.endpoint),
            Some(Body::DealOpen(open)) => {
                self.with_deals(&mut received, |deals| deals.on_open(open, now));
            }
            Some(Body::DealTranscript(transcript)) => {
                self.with_deals(&mut received, |deals| deals.on_transcript(transcript, now));
            }
            Some(Body::DealClose(close)) => {
                self.with_deals(&mut received, |deals| deals.on_close(close));
            }
            None => {} // a message of a newer arena, unknown to this SDK
        }
        received
    }

    fn with_deals(&mut self, received: &mut Received, call: impl FnOnce(&mut Deals) -> Reaction) {
        if let Some(deals) = &mut self.deals {
            let reaction = call(deals);
            received.warnings.extend(reaction.warnings);
            if let Some(out) = &self.out {
                out.put(reaction.send);
            }
        }
    }

    // The bot runner calls these.

    /// Takes the calls of the bot that are due, oldest first.
    pub fn take_tasks(&mut self) -> Vec<BotTask> {
        std::mem::take(&mut self.tasks)
    }

    /// Marks a queued ask as delivered, right before the call of the bot.
    ///
    /// False if the ask is settled or was delivered before: the bot must not be called then.
    pub fn deliver(&mut self, ask: &UntypedAsk, now: Instant) -> bool {
        let due = match self.seat_of(ask.id()) {
            Some(Seat { last: Some(last), times, .. }) if last.open && !last.delivered => {
                last.delivered = true;
                times.delivered_at = Some(now);
                true
            }
            _ => false,
        };
        self.count_asks(self.queued_asks.saturating_sub(1), self.taken_asks + usize::from(due));
        due
    }

    /// Marks a delivered ask as undelivered, because the bot abandoned it.
    ///
    /// If the arena repeats the ask, the bot is called again. True if the arena has already repeated
    /// it: the ask is then queued.
    pub fn abandon(&mut self, ask: &UntypedAsk) -> bool {
        let queued = self.last_of(ask.id()).is_some_and(|last| {
            last.delivered = false;
            last.open
        });
        self.count_asks(self.queued_asks + usize::from(queued), self.taken_asks.saturating_sub(1));
        queued
    }

    /// Queues an ask for the bot runner, which calls `deliver` for each.
    fn enqueue(&mut self, ask: Arc<UntypedAsk>) {
        self.tasks.push(BotTask::Ask(ask));
        self.count_asks(self.queued_asks + 1, self.taken_asks);
    }

    fn count_asks(&mut self, queued: usize, taken: usize) {
        (self.queued_asks, self.taken_asks) = (queued, taken);
        if let Some(out) = &self.out {
            out.set_asks(queued, taken);
        }
    }

    /// Keeps answers and sends them.
    ///
    /// A second answer to an ask is dropped. Without a stream nothing is sent: the next welcome
    /// repeats the open asks.
    pub fn answer(&mut self, answers: Vec<v1::Answer>, now: Instant) {
        let max_chars = self.max_note_chars();
        let taken = self.taken_asks.saturating_sub(answers.len());
        let (mut to_send, mut last_answered) = (Vec::new(), self.last_answered);
        let is_live = self.welcomed;
        for mut answer in answers {
            let Some(seat) = self.seat_of(answer.ask_id) else { continue };
            let Some(last) = seat.last.as_mut().filter(|last| last.answer.is_none()) else {
                continue;
            };
            if seat.times.due && answer.note.is_empty() {
                answer.note = seat.times.note();
            }
            seat.times.answered_at = Some(now);
            answer.note = truncate(answer.note, max_chars);
            last.ask.set_open(false);
            if last.open {
                to_send.push(answer.clone());
                last_answered = is_live.then(|| seat.game_match.number());
            }
            last.answer = Some(answer);
        }
        self.last_answered = last_answered;
        self.send_answers(to_send);
        self.count_asks(self.queued_asks, taken);
    }

    fn send_answers(&self, answers: Vec<v1::Answer>) {
        if let (true, Some(out)) = (self.welcomed, &self.out) {
            out.put_answers(answers);
        }
    }

    /// The ask, if it is the last of a match. It may be settled: the arena can repeat it.
    fn last_of(&mut self, ask_id: u64) -> Option<&mut LastAsk> {
        self.seat_of(ask_id)?.last.as_mut()
    }

    /// The seat whose last ask has an id.
    fn seat_of(&mut self, ask_id: u64) -> Option<&mut Seat> {
        match self.open.get(&ask_id) {
            Some(number) => self.seats.get_mut(number),
            None => self
                .seats
                .values_mut()
                .find(|seat| seat.last.as_ref().is_some_and(|last| last.ask.id() == ask_id)),
        }
    }

    fn max_note_chars(&self) -> usize {
        match self.limits.max_note_chars {
            0 => DEFAULT_NOTE_CHARS,
            max => max as usize,
        }
    }

    /// The number of matches in play.
    pub fn match_count(&self) -> usize {
        self.seats.len()
    }

    /// The game of the newest match.
    pub fn newest_game(&self) -> String {
        let newest = self.seats.values().next_back();
        newest.map_or_else(String::new, |seat| seat.game_match.game().to_owned())
    }

    // Messages of the arena.

    fn on_welcome(
        &mut self,
        received: &mut Received,
        welcome: v1::Welcome,
        payloads: &[Option<&[u8]>],
        now: Instant,
    ) {
        received.welcomed = true;
        if welcome.contract > CONTRACT {
            received.refused = Some(format!(
                "the arena uses contract version {}, this SDK supports version {CONTRACT}: upgrade the SDK",
                welcome.contract
            ));
            return;
        }
        if welcome.epoch <= self.epoch {
            // The arena counts streams up. A lower number is of an arena that lost its state.
            self.end_missed(received, |_| true);
            self.ended.clear();
            self.ended_oldest_first.clear();
        }
        (self.epoch, self.welcomed, self.draining) = (welcome.epoch, true, false);
        self.limits = welcome.limits.unwrap_or_default();
        if let Some(out) = &self.out {
            out.set_limits(self.limits);
        }

        let listed: HashSet<u32> = welcome.matches.iter().map(|start| start.r#match).collect();
        self.end_missed(received, |number| !listed.contains(&number));
        let none_listed = welcome.matches.is_empty();
        for start in welcome.matches {
            if !self.ended.contains(&start.r#match) {
                self.on_match_start(received, start);
            }
        }
        let open = welcome.open_asks.iter().map(|ask| ask.ask_id);
        let still_open: HashSet<u64> = open.chain(welcome.later_asks).collect();
        let settled: Vec<u64> =
            self.open.keys().copied().filter(|ask_id| !still_open.contains(ask_id)).collect();
        for ask_id in settled {
            self.settle(ask_id);
        }
        self.on_asks(received, welcome.open_asks, payloads, now);
        let refused = welcome.games.iter().filter(|game| game.refusal != 0);
        let refused: Vec<&str> = refused.map(|game| game.text.as_str()).collect();
        received.warnings.extend(refused.iter().map(|text| format!("game refused: {text}")));
        if !refused.is_empty() && refused.len() == welcome.games.len() && none_listed {
            let why = refused.join("; ");
            received.refused = Some(format!("the arena refused all games of this bot: {why}"));
        }
    }

    fn end_missed(&mut self, received: &mut Received, which: impl Fn(u32) -> bool) {
        let numbers: Vec<u32> =
            self.seats.keys().copied().filter(|number| which(*number)).collect();
        for number in numbers {
            let end = v1::MatchEnd { r#match: number, ..Default::default() };
            self.end_seat(received, end, &[]);
        }
    }

    fn on_match_start(&mut self, received: &mut Received, start: v1::MatchStart) {
        let number = start.r#match;
        if self.seats.get(&number).is_some_and(|seat| seat.game_match.start != start) {
            let end = v1::MatchEnd { r#match: number, ..Default::default() };
            self.end_seat(received, end, &[]);
        }
        if let Entry::Vacant(entry) = self.seats.entry(number) {
            let game_match = Arc::new(Match { start: start.clone() });
            entry.insert(Seat {
                game_match: game_match.clone(),
                last: None,
                times: AskTimes::default(),
            });
            self.tasks.push(BotTask::Started(game_match));
        }
        self.with_deals(received, |deals| deals.on_match_start(&start));
    }

    fn on_asks(
        &mut self,
        received: &mut Received,
        asks: Vec<v1::Ask>,
        payloads: &[Option<&[u8]>],
        now: Instant,
    ) {
        let max_chars = self.max_note_chars();
        let (mut repeated, mut automatic) = (Vec::new(), Vec::new());
        for (index, message) in asks.into_iter().enumerate() {
            let payload = payloads.get(index).copied().flatten();
            self.with_deals(received, |deals| deals.on_ask(&message, payload));
            let (number, ask_id) = (message.r#match, message.ask_id);
            let Some(seat) = self.seats.get_mut(&number) else {
                let line = format!("ignored an ask of match {number}, which did not start");
                received.warnings.push(line);
                continue;
            };
            if let Some(last) = seat.last.as_mut().filter(|last| last.ask.id() == ask_id) {
                repeated.extend(last.answer.clone());
                self.reopen(number);
                continue;
            }
            let answer = |choice, note| v1::Answer {
                ask_id,
                choice: Some(choice),
                note: truncate(note, max_chars),
            };
            let ask = UntypedAsk::new(message, seat.game_match.clone(), seat.undelivered(), now);
            let Some(ask) = ask.map(Arc::new) else {
                let game = seat.game_match.game();
                let note = format!("error: this version of the SDK does not support {game}");
                repeated.push(answer(v1::answer::Choice::Failed(true), note));
                continue;
            };
            let trip_ms = ask.message.clock.as_ref().map_or(0, |clock| clock.last_round_trip_ms);
            let is_known = trip_ms > 0 && self.last_answered == Some(number);
            let trip = is_known.then(|| Duration::from_millis(trip_ms.into()));
            seat.times.arrived(now, trip);
            let before = seat.last.replace(LastAsk {
                ask: ask.clone(),
                open: true,
                delivered: false,
                answer: None,
            });
            if let Some(before) = before {
                before.ask.set_open(false);
                self.open.remove(&before.ask.id());
            }
            self.open.insert(ask_id, number);
            if !self.ask_forced && ask.forced() {
                automatic.push(answer(v1::answer::Choice::Index(0), String::new()));
            } else {
                self.enqueue(ask);
            }
        }
        if !repeated.is_empty() {
            self.last_answered = None; // its round trip has the time without a stream
        }
        self.send_answers(repeated);
        self.answer(automatic, now);
    }

    /// Opens the last ask of a match again, because the arena repeated it.
    fn reopen(&mut self, number: u32) {
        let Some(last) = self.seats.get_mut(&number).and_then(|seat| seat.last.as_mut()) else {
            return;
        };
        if last.open {
            return;
        }
        last.open = true;
        self.open.insert(last.ask.id(), number);
        if last.answer.is_none() {
            last.ask.set_open(true);
            if !last.delivered {
                let ask = last.ask.clone();
                self.enqueue(ask);
            }
        }
    }

    fn on_ask_closed(&mut self, received: &mut Received, closed: &v1::AskClosed) {
        let mut place = String::new();
        if let Some(number) = self.open.get(&closed.ask_id) {
            let game = self.seats.get(number).map_or("", |seat| seat.game_match.game());
            place = format!(" in match {number} ({game})");
            self.settle(closed.ask_id);
        }
        if closed.fault != v1::FaultKind::Unspecified as i32 {
            let kind = v1::FaultKind::try_from(closed.fault).map_or_else(
                |_| format!("kind {}", closed.fault), // of a newer arena
                |kind| lower_name(kind.as_str_name(), "FAULT_KIND_"),
            );
            received.warnings.push(format!("fault{place}: {kind}: {}", closed.reason));
        }
    }

    fn on_match_end(&mut self, received: &mut Received, end: v1::MatchEnd, events: &[&[u8]]) {
        let number = end.r#match;
        if !self.seats.contains_key(&number) {
            return;
        }
        self.end_seat(received, end, events);
        self.ended.insert(number);
        self.ended_oldest_first.push_back(number);
        if self.ended_oldest_first.len() > MAX_REMEMBERED_ENDS
            && let Some(oldest) = self.ended_oldest_first.pop_front()
        {
            self.ended.remove(&oldest);
        }
    }

    fn end_seat(&mut self, received: &mut Received, end: v1::MatchEnd, events: &[&[u8]]) {
        let Some(seat) = self.seats.remove(&end.r#match) else { return };
        let undelivered = seat.undelivered();
        if let Some(last) = seat.last {
            last.ask.set_open(false);
            self.open.remove(&last.ask.id());
        }
        self.with_deals(received, |deals| deals.on_match_end(&end, events));
        let end = UntypedEnd { message: end, game_match: seat.game_match, undelivered };
        self.tasks.push(BotTask::Ended(end));
    }

    fn settle(&mut self, ask_id: u64) {
        let seat = self.open.remove(&ask_id).and_then(|number| self.seats.get_mut(&number));
        if let Some(last) = seat.and_then(|seat| seat.last.as_mut()) {
            last.open = false;
            last.ask.set_open(false);
        }
    }
}

/// A session that the connection shares with the threads of the bots.
#[derive(Clone)]
pub(crate) struct SharedSession(Arc<Mutex<Session>>);

impl SharedSession {
    pub fn new(session: Session) -> Self {
        Self(Arc::new(Mutex::new(session)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().expect("no thread panics while it has the lock")
    }
}

/// The name of an enum's value in lower case, without the enum's prefix.
fn lower_name(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_lowercase()
}

/// Truncates a note to a number of code points. A truncated note ends in an ellipsis.
fn truncate(note: String, max_chars: usize) -> String {
    if note.len() <= max_chars || note.chars().count() <= max_chars {
        return note;
    }
    note.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
pub(crate) mod tests;
