//! A bot at the arena, over all its streams.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::ask::{Asked, Match, Over};
use crate::deals::{Deals, deal_name};
use crate::outbox::Outbox;
use crate::v1::{self, arena_message::Body, bot_message};
use crate::wire;

/// The version of the contract that the SDK speaks.
pub(crate) const CONTRACT: u32 = 1;
const DEFAULT_NOTE_CHARS: usize = 200;
/// Ended matches that are remembered: an arena repeats the last 64 at most.
const REMEMBERED_ENDS: usize = 1024;

/// A bot at the arena, over all its streams. It reads no socket and no clock, and never calls the
/// author's code.
///
/// An ask is queued, then shown to the author, then answered, or settled at any time. The arena
/// does not acknowledge answers, so an answer is kept until the match's next ask: whenever the ask
/// comes again, the same answer is said again and the author is not asked anew.
pub(crate) struct Session {
    hello: v1::Hello,
    ask_forced: bool,
    /// None of a bot that takes no part in them.
    pub deals: Option<Deals>,
    /// Of the stream there is.
    out: Option<Arc<Outbox>>,
    /// Whether it was welcomed.
    live: bool,
    draining: bool,
    epoch: u32,
    limits: v1::Limits,
    seats: BTreeMap<u32, Seat>,
    /// The matches whose last ask is open, by the ask's id.
    open: HashMap<u64, u32>,
    /// Matches whose end was told.
    over: HashSet<u32>,
    over_in_order: VecDeque<u32>,
    work: Vec<Item>,
    /// Asks that were handed on, and that no thread has taken up yet.
    handed: usize,
}

/// The bot's own at a match.
struct Seat {
    game_match: Arc<Match>,
    last: Option<Last>,
}

/// The last ask of a match.
struct Last {
    asked: Arc<Asked>,
    open: bool,
    shown: bool,
    answer: Option<v1::Answer>,
}

impl Seat {
    /// Asks that the author was not given, with what they tell.
    fn untold(&self) -> Vec<Arc<Asked>> {
        match &self.last {
            Some(last) if !last.shown => {
                last.asked.before.iter().cloned().chain([last.asked.clone()]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Waits for the author's code.
pub(crate) enum Item {
    Started(Arc<Match>),
    Asked(Arc<Asked>),
    Ended(Over),
}

/// What is to be done about a message of the arena.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub say: Vec<String>,
    pub welcomed: bool,
    pub redirect: Option<String>,
    /// Why the bot would wait in vain.
    pub refused: Option<String>,
}

impl Session {
    pub fn new(hello: v1::Hello, ask_forced: bool, deals: Option<Deals>) -> Self {
        Self {
            hello,
            ask_forced,
            deals,
            out: None,
            live: false,
            draining: false,
            epoch: 0,
            limits: v1::Limits::default(),
            seats: BTreeMap::new(),
            open: HashMap::new(),
            over: HashSet::new(),
            over_in_order: VecDeque::new(),
            work: Vec::new(),
            handed: 0,
        }
    }

    // The stream.

    /// Begins a stream; its first message is hello.
    pub fn opened(&mut self, out: &Arc<Outbox>) {
        self.live = false;
        if let Some(deals) = &mut self.deals {
            deals.on_stream();
        }
        out.put([v1::BotMessage { body: Some(bot_message::Body::Hello(self.hello.clone())) }]);
        out.handed(self.handed);
        self.out = Some(out.clone());
    }

    /// Says that the stream is gone, and whether it was draining. What is open stays so until the
    /// next welcome.
    pub fn lost(&mut self) -> bool {
        self.live = false;
        if let Some(out) = self.out.take() {
            out.close();
        }
        self.draining
    }

    /// Says that there will be no other stream.
    pub fn finish(&mut self) {
        self.open.clear();
        for seat in std::mem::take(&mut self.seats).into_values() {
            if let Some(last) = seat.last {
                last.asked.set_wanted(false);
            }
        }
    }

    /// Takes a message of the arena: its bytes, and what they say.
    pub fn receive(&mut self, raw: &[u8], message: v1::ArenaMessage, now: Instant) -> Received {
        let mut r = Received::default();
        match message.body {
            Some(Body::Asks(asks)) => self.on_asks(&mut r, asks.asks, &wire::asked(raw), now),
            Some(Body::AskClosed(closed)) => self.on_ask_closed(&mut r, &closed),
            Some(Body::MatchStart(start)) => self.on_match_start(&mut r, start),
            Some(Body::MatchEnd(end)) => self.on_match_end(&mut r, end, &wire::trailing(raw)),
            Some(Body::Welcome(welcome)) => {
                self.on_welcome(&mut r, welcome, &wire::asked_in_welcome(raw), now);
            }
            Some(Body::Refusal(refusal)) => {
                let deal = match refusal.deal_context.as_slice() {
                    [] => String::new(),
                    context => format!("deal-set {}: ", deal_name(context)),
                };
                let reason = word(refusal.reason().as_str_name(), "REFUSAL_REASON_");
                r.say.push(format!("{deal}refused ({reason}): {}", refusal.text));
            }
            Some(Body::Drain(drain)) => {
                self.draining = true;
                let left = Duration::from_millis(drain.deadline_ms.into());
                r.say.push(format!("the arena closes in {left:?}; running matches go on"));
            }
            Some(Body::Redirect(redirect)) => r.redirect = Some(redirect.endpoint),
            Some(Body::DealOpen(open)) => {
                self.with_deals(&mut r, |deals| deals.on_open(open, now));
            }
            Some(Body::DealTranscript(shown)) => {
                self.with_deals(&mut r, |deals| deals.on_transcript(shown, now));
            }
            Some(Body::DealClose(close)) => self.with_deals(&mut r, |deals| deals.on_close(close)),
            None => {} // a newer arena says more than this SDK knows
        }
        r
    }

    fn with_deals(
        &mut self,
        r: &mut Received,
        tell: impl FnOnce(&mut Deals) -> crate::deals::Reaction,
    ) {
        if let Some(deals) = &mut self.deals {
            let reaction = tell(deals);
            r.say.extend(reaction.say);
            if let Some(out) = &self.out {
                out.put(reaction.send);
            }
        }
    }

    // The author's side.

    /// What there is for the author's code since, oldest first.
    pub fn take_work(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.work)
    }

    /// Says that the author is about to be given an ask; false if it is settled, or was given it.
    pub fn show(&mut self, asked: &Asked) -> bool {
        self.count_handed(self.handed.saturating_sub(1));
        match self.last_of(asked.id()) {
            Some(last) if last.open && !last.shown => {
                last.shown = true;
                true
            }
            _ => false,
        }
    }

    /// Says that the author stopped as its answer was not wanted any more. If the ask comes again,
    /// the author is asked anew; at once, if it has come already: then this is true.
    pub fn give_up(&mut self, asked: &Asked) -> bool {
        let Some(last) = self.last_of(asked.id()) else { return false };
        last.shown = false;
        let again = last.open;
        if again {
            self.count_handed(self.handed + 1);
        }
        again
    }

    /// Hands an ask on to the author's code, which calls `show` for each.
    fn hand(&mut self, asked: Arc<Asked>) {
        self.work.push(Item::Asked(asked));
        self.count_handed(self.handed + 1);
    }

    fn count_handed(&mut self, handed: usize) {
        self.handed = handed;
        if let Some(out) = &self.out {
            out.handed(handed);
        }
    }

    /// Keeps answers and sends them. One to an ask that has an answer is dropped; without a stream
    /// nothing is sent, as welcome will ask again.
    pub fn answer(&mut self, answers: Vec<v1::Answer>) {
        let most = self.note_chars();
        let mut taken = Vec::new();
        for mut answer in answers {
            let Some(last) = self.last_of(answer.ask_id) else { continue };
            if last.answer.is_some() {
                continue;
            }
            answer.note = cut(answer.note, most);
            last.asked.set_wanted(false);
            if last.open {
                taken.push(answer.clone());
            }
            last.answer = Some(answer);
        }
        self.send_answers(taken);
    }

    fn send_answers(&self, answers: Vec<v1::Answer>) {
        if let (true, Some(out)) = (self.live, &self.out) {
            out.put_answers(answers);
        }
    }

    /// The ask, if it is the last of a match, also if it counts as settled: it may come again.
    fn last_of(&mut self, ask_id: u64) -> Option<&mut Last> {
        let seat = match self.open.get(&ask_id) {
            Some(number) => self.seats.get_mut(number),
            None => self
                .seats
                .values_mut()
                .find(|seat| seat.last.as_ref().is_some_and(|last| last.asked.id() == ask_id)),
        };
        seat?.last.as_mut()
    }

    fn note_chars(&self) -> usize {
        match self.limits.max_note_chars {
            0 => DEFAULT_NOTE_CHARS,
            most => most as usize,
        }
    }

    /// How many matches go on.
    pub fn playing(&self) -> usize {
        self.seats.len()
    }

    /// The game of the newest match.
    pub fn newest_game(&self) -> String {
        let newest = self.seats.values().next_back();
        newest.map_or_else(String::new, |seat| seat.game_match.game().to_owned())
    }

    // What the arena says.

    fn on_welcome(
        &mut self,
        r: &mut Received,
        welcome: v1::Welcome,
        payloads: &[Option<&[u8]>],
        now: Instant,
    ) {
        r.welcomed = true;
        if welcome.contract > CONTRACT {
            r.refused = Some(format!(
                "the arena speaks version {} of the contract, and this SDK does not: a newer one is needed",
                welcome.contract
            ));
            return;
        }
        if welcome.epoch <= self.epoch {
            // Streams are counted up: this arena has started anew, with the same small numbers.
            self.end_unheard(r, |_| true);
            self.over.clear();
            self.over_in_order.clear();
        }
        (self.epoch, self.live, self.draining) = (welcome.epoch, true, false);
        self.limits = welcome.limits.unwrap_or_default();
        if let Some(out) = &self.out {
            out.limit(self.limits);
        }

        let listed: HashSet<u32> = welcome.matches.iter().map(|start| start.r#match).collect();
        self.end_unheard(r, |number| !listed.contains(&number));
        let none_listed = welcome.matches.is_empty();
        for start in welcome.matches {
            if !self.over.contains(&start.r#match) {
                self.on_match_start(r, start);
            }
        }
        let open = welcome.open_asks.iter().map(|ask| ask.ask_id);
        let wanted: HashSet<u64> = open.chain(welcome.later_asks).collect();
        let settled: Vec<u64> =
            self.open.keys().copied().filter(|ask_id| !wanted.contains(ask_id)).collect();
        for ask_id in settled {
            self.settle(ask_id);
        }
        self.on_asks(r, welcome.open_asks, payloads, now);
        let refused = welcome.games.iter().filter(|game| game.refusal != 0);
        let refused: Vec<&str> = refused.map(|game| game.text.as_str()).collect();
        r.say.extend(refused.iter().map(|text| format!("not seated: {text}")));
        if !refused.is_empty() && refused.len() == welcome.games.len() && none_listed {
            let why = refused.join("; ");
            r.refused = Some(format!("the arena seats this bot at none of its games: {why}"));
        }
    }

    fn end_unheard(&mut self, r: &mut Received, which: impl Fn(u32) -> bool) {
        let numbers: Vec<u32> =
            self.seats.keys().copied().filter(|number| which(*number)).collect();
        for number in numbers {
            self.end_seat(r, v1::MatchEnd { r#match: number, ..Default::default() }, &[]);
        }
    }

    fn on_match_start(&mut self, r: &mut Received, start: v1::MatchStart) {
        let number = start.r#match;
        if self.seats.get(&number).is_some_and(|seat| seat.game_match.start != start) {
            self.end_seat(r, v1::MatchEnd { r#match: number, ..Default::default() }, &[]);
        }
        if let Entry::Vacant(place) = self.seats.entry(number) {
            let game_match = Arc::new(Match { start: start.clone() });
            place.insert(Seat { game_match: game_match.clone(), last: None });
            self.work.push(Item::Started(game_match));
        }
        self.with_deals(r, |deals| deals.on_match_start(&start));
    }

    fn on_asks(
        &mut self,
        r: &mut Received,
        asks: Vec<v1::Ask>,
        payloads: &[Option<&[u8]>],
        now: Instant,
    ) {
        let note_chars = self.note_chars();
        let (mut again, mut automatic) = (Vec::new(), Vec::new());
        for (place, message) in asks.into_iter().enumerate() {
            let payload = payloads.get(place).copied().flatten();
            self.with_deals(r, |deals| deals.on_ask(&message, payload));
            let (number, ask_id) = (message.r#match, message.ask_id);
            let Some(seat) = self.seats.get_mut(&number) else {
                r.say.push(format!("asked at match {number}, which never started"));
                continue;
            };
            if let Some(last) = seat.last.as_mut().filter(|last| last.asked.id() == ask_id) {
                again.extend(last.answer.clone());
                self.reopen(number);
                continue;
            }
            let index = |note| v1::Answer {
                ask_id,
                choice: Some(v1::answer::Choice::Index(0)),
                note: cut(note, note_chars),
            };
            let asked = Asked::new(message, seat.game_match.clone(), seat.untold(), now);
            let Some(asked) = asked.map(Arc::new) else {
                let game = seat.game_match.game();
                let note = format!("error: this version of the SDK has no messages of {game}");
                again.push(index(note));
                continue;
            };
            let before = seat.last.replace(Last {
                asked: asked.clone(),
                open: true,
                shown: false,
                answer: None,
            });
            if let Some(before) = before {
                before.asked.set_wanted(false);
                self.open.remove(&before.asked.id());
            }
            self.open.insert(ask_id, number);
            if !self.ask_forced && asked.forced() {
                automatic.push(index(String::new()));
            } else {
                self.hand(asked);
            }
        }
        self.send_answers(again);
        self.answer(automatic);
    }

    /// The last ask of a match is asked again, though it may have counted as settled.
    fn reopen(&mut self, number: u32) {
        let Some(last) = self.seats.get_mut(&number).and_then(|seat| seat.last.as_mut()) else {
            return;
        };
        if last.open {
            return;
        }
        last.open = true;
        self.open.insert(last.asked.id(), number);
        if last.answer.is_none() {
            last.asked.set_wanted(true);
            if !last.shown {
                let asked = last.asked.clone();
                self.hand(asked);
            }
        }
    }

    fn on_ask_closed(&mut self, r: &mut Received, closed: &v1::AskClosed) {
        let mut place = String::new();
        if let Some(number) = self.open.get(&closed.ask_id) {
            let game = self.seats.get(number).map_or("", |seat| seat.game_match.game());
            place = format!(" in match {number} ({game})");
            self.settle(closed.ask_id);
        }
        if closed.fault != v1::FaultKind::Unspecified as i32 {
            let kind = v1::FaultKind::try_from(closed.fault).map_or_else(
                |_| format!("kind {}", closed.fault), // of a newer arena
                |kind| word(kind.as_str_name(), "FAULT_KIND_"),
            );
            r.say.push(format!("fault{place}: {kind}: {}", closed.reason));
        }
    }

    fn on_match_end(&mut self, r: &mut Received, end: v1::MatchEnd, events: &[&[u8]]) {
        let number = end.r#match;
        if !self.seats.contains_key(&number) {
            return;
        }
        self.end_seat(r, end, events);
        self.over.insert(number);
        self.over_in_order.push_back(number);
        if self.over_in_order.len() > REMEMBERED_ENDS
            && let Some(oldest) = self.over_in_order.pop_front()
        {
            self.over.remove(&oldest);
        }
    }

    // Settling.

    fn end_seat(&mut self, r: &mut Received, end: v1::MatchEnd, events: &[&[u8]]) {
        let Some(seat) = self.seats.remove(&end.r#match) else { return };
        let before = seat.untold();
        if let Some(last) = seat.last {
            last.asked.set_wanted(false);
            self.open.remove(&last.asked.id());
        }
        self.with_deals(r, |deals| deals.on_match_end(&end, events));
        self.work.push(Item::Ended(Over { message: end, game_match: seat.game_match, before }));
    }

    fn settle(&mut self, ask_id: u64) {
        let seat = self.open.remove(&ask_id).and_then(|number| self.seats.get_mut(&number));
        if let Some(last) = seat.and_then(|seat| seat.last.as_mut()) {
            last.open = false;
            last.asked.set_wanted(false);
        }
    }
}

/// The name of an enum's value as a word.
fn word(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_lowercase()
}

/// The note, ending in an ellipsis if it had to be cut to so many code points.
fn cut(note: String, most: usize) -> String {
    if note.len() <= most || note.chars().count() <= most {
        return note;
    }
    note.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
pub(crate) mod tests;
