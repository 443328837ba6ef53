//! Fair deals, protocol fd2 of `docs/fair-deals.md`, as a bot takes part in them and checks them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::hashes::{
    HASH_BYTES, Named, commitment_of, hash, joined, key_of, seal_of, sha256, shown_of,
    transcript_of, view_of,
};
use crate::receipts::Folder;
use crate::v1::{self, bot_message::Body};

const SALT_BYTES: usize = 32;
const SIGNATURE_BYTES: usize = 64;
/// How much sooner than the deadline an arena may go on without a commitment.
const JITTER_OF_DEADLINE: Duration = Duration::from_secs(1);
/// So many deals in play are remembered, and so many that are over.
const REMEMBERED_DEALS: usize = 4096;
const NO_COMMITMENT: [u8; HASH_BYTES] = [0; HASH_BYTES];

/// What the bot was shown in one match, as a chain of hashes over its asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    pub number: u32,
    pub game: String,
    pub seat: u32,
    pub match_id: String,
    pub chain: Vec<u8>,
    /// Each decision with the first 8 hexadecimal digits of the chain after it.
    pub asks: Vec<(u32, String)>,
    pub end: Option<Vec<u8>>,
    /// SHA-256 of the last ask's payload.
    pub last: Vec<u8>,
}

/// What the arena opens of a deal-set when it is over, by participant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Opening {
    pub deal: Vec<u8>,
    pub secret: Vec<u8>,
    pub commitments: Named,
    pub entropies: Named,
    pub salts: Named,
}

impl Opening {
    fn transcript(&self) -> Vec<u8> {
        transcript_of(&self.deal, &self.secret, &self.commitments)
    }
}

/// One deal-set, as this bot knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Deal {
    /// Its own, and the arena's commitment under it.
    pub context: Vec<u8>,
    pub server_commitment: Vec<u8>,
    pub participant: String,
    /// None if this process never knew it.
    pub entropy: Option<Vec<u8>>,
    /// Then the commitment that the arena has of the bot.
    pub stood: Vec<u8>,
    /// When the time to commit is over, if it was told.
    pub due: Option<Instant>,
    /// Its commitment as it was shown, and the seal; none before.
    pub shown: Option<Vec<u8>>,
    pub seal: Vec<u8>,
    pub public_key: Vec<u8>,
    pub signature: Vec<u8>,
    pub refused: bool,
    /// None before.
    pub opened: Option<Opening>,
    pub void_reason: String,
    pub lies: Vec<String>,
    /// In the order in which they began.
    pub matches: Vec<Shown>,
}

impl Deal {
    pub fn commitment(&self) -> Vec<u8> {
        match &self.entropy {
            Some(entropy) => commitment_of(&self.context, &self.participant, entropy),
            None => self.stood.clone(),
        }
    }

    /// Whether the bot's own entropy was shown to be in it.
    fn takes_part(&self) -> bool {
        self.entropy.is_some() && self.shown.as_ref() == Some(&self.commitment())
    }

    /// The hash over all that the bot saw before it revealed.
    pub fn transcript(&self) -> Option<Vec<u8>> {
        let shown = self.shown.as_ref()?;
        let (context, participant) = (&self.context, &self.participant);
        Some(shown_of(context, &self.server_commitment, participant, shown, &self.seal))
    }

    pub fn key(&self) -> Option<Vec<u8>> {
        let opened = self.opened.as_ref()?;
        if self.shown.is_none() || !self.void_reason.is_empty() {
            return None;
        }
        Some(key_of(&opened.transcript(), &opened.secret, &opened.entropies))
    }
}

pub(crate) fn deal_name(context: &[u8]) -> String {
    hex::encode(context).chars().take(12).collect()
}

/// What is to be done about a message of the arena.
#[derive(Debug, Default)]
pub(crate) struct Reaction {
    pub send: Vec<v1::BotMessage>,
    pub say: Vec<String>,
}

/// Draws 32 bytes that nobody can guess.
pub(crate) type Draw = Box<dyn FnMut() -> Vec<u8> + Send>;

/// All fair deals that a bot takes part in.
pub(crate) struct Deals {
    pub lies: Vec<String>,
    /// None if no receipts are kept.
    folder: Option<Folder>,
    draw: Draw,
    known: HashMap<Vec<u8>, Deal>,
    oldest: VecDeque<Vec<u8>>,
    over: HashSet<Vec<u8>>,
    closed: VecDeque<Vec<u8>>,
    /// Contexts of matches in play.
    contexts: BTreeMap<u32, Vec<u8>>,
    /// Those that this stream has told of.
    told: HashSet<u32>,
}

impl Deals {
    pub fn new(folder: Option<Folder>, draw: Draw) -> Self {
        Self {
            lies: Vec::new(),
            folder,
            draw,
            known: HashMap::new(),
            oldest: VecDeque::new(),
            over: HashSet::new(),
            closed: VecDeque::new(),
            contexts: BTreeMap::new(),
            told: HashSet::new(),
        }
    }

    /// Another stream begins. What is in play, it will tell.
    pub fn on_stream(&mut self) {
        self.told.clear();
    }

    /// Commits, or says why not.
    pub fn on_open(&mut self, message: v1::DealOpen, now: Instant) -> Reaction {
        let mut r = Reaction::default();
        let v1::DealOpen { context, server_commitment, participant, public_key, .. } = message;
        let stands = message.commitment;
        if context.len() != HASH_BYTES || server_commitment.len() != HASH_BYTES {
            r.say.push("took no part in a fair deal that was not named as one".to_owned());
            return r;
        }
        let known = self.find(&context, Some(&participant));
        if self.over.contains(&context) {
            self.lie(&mut r, &context, "it opens a deal-set again whose packs are known");
            return r;
        }
        if !known {
            let entropy = stands.is_empty().then(|| (self.draw)());
            self.remember(Deal {
                context: context.clone(),
                server_commitment: server_commitment.clone(),
                participant: participant.clone(),
                public_key: public_key.clone(),
                entropy,
                stood: stands.clone(),
                ..Deal::default()
            });
            self.keep(&mut r, &context);
        }
        let Some(own) = self.known.get_mut(&context) else { return r };
        let same = own.server_commitment == server_commitment
            && own.participant == participant
            && own.public_key == public_key;
        if !same {
            own.refused = true;
            self.lie(&mut r, &context, "it committed itself twice, and differently");
            return r;
        }
        if !stands.is_empty() && stands != NO_COMMITMENT && stands != own.commitment() {
            own.refused = true;
            self.lie(&mut r, &context, "it replaced this bot's commitment");
            return r;
        }
        if !stands.is_empty() {
            return r; // the arena has it, or it is too late
        }
        own.due = Some(now + Duration::from_millis(message.deadline_ms.into()));
        let commitment = own.commitment();
        r.send.push(bot_message(Body::DealCommit(v1::DealCommit { context, commitment })));
        r
    }

    /// Reveals, or says why not.
    pub fn on_transcript(&mut self, message: v1::DealTranscript, now: Instant) -> Reaction {
        let mut r = Reaction::default();
        let v1::DealTranscript { context, commitment, seal, signature, .. } = message;
        let not_revealed = || {
            let name = deal_name(&context);
            format!("deal-set {name}: not revealed, as this process had not committed to it")
        };
        if !self.find(&context, None) {
            if !self.over.contains(&context) {
                r.say.push(not_revealed());
            }
            return r;
        }
        let Some(own) = self.known.get_mut(&context) else { return r };
        let wrong = match &own.shown {
            None => {
                let early = own.due.is_some_and(|due| now + JITTER_OF_DEADLINE < due);
                let wrong = wrong_transcript(own, &commitment, &seal, early);
                if wrong.is_none() {
                    (own.shown, own.seal, own.signature) = (Some(commitment), seal, signature);
                }
                wrong
            }
            Some(shown) if *shown != commitment || own.seal != seal => {
                Some("it shows a second transcript, which differs from the first")
            }
            Some(_) => None,
        };
        let unsigned = !own.public_key.is_empty() && own.signature.len() != SIGNATURE_BYTES;
        if let Some(what) = wrong {
            own.refused = true;
            self.lie(&mut r, &context, &format!("{what}; nothing is revealed"));
        } else if unsigned {
            // No reason to stay silent: that would cost the bot the deal-set.
            self.lie(&mut r, &context, "it has a key, and does not sign what it shows");
        }
        self.keep(&mut r, &context);
        let Some(own) = self.known.get(&context) else { return r };
        if own.entropy.is_none() && own.commitment() != NO_COMMITMENT {
            r.say.push(not_revealed());
        }
        if let Some(entropy) = own.entropy.clone()
            && own.takes_part()
            && !own.refused
        {
            r.send.push(bot_message(Body::DealReveal(v1::DealReveal { context, entropy })));
        }
        r
    }

    /// Checks all that is opened.
    pub fn on_close(&mut self, message: v1::DealClose) -> Reaction {
        let mut r = Reaction::default();
        let context = message.context;
        if !self.find(&context, None) {
            return r;
        }
        let Some(own) = self.known.get_mut(&context) else { return r };
        let mut opened =
            Opening { deal: message.deal, secret: message.secret, ..Opening::default() };
        let in_order = message.entropies.is_sorted_by(|a, b| a.participant < b.participant);
        for each in message.entropies {
            opened.commitments.insert(each.participant.clone(), each.commitment);
            opened.entropies.insert(each.participant.clone(), each.entropy);
            opened.salts.insert(each.participant, each.salt);
        }
        own.void_reason = message.void_reason;
        let wrong = if in_order {
            wrong_opening(own, &opened)
        } else {
            Some("it opens participants out of order, or one twice".to_owned())
        };
        own.opened = Some(opened);
        let (void_reason, takes_part) = (own.void_reason.clone(), own.takes_part());
        if let Some(what) = wrong {
            self.lie(&mut r, &context, &what);
        }
        let name = deal_name(&context);
        if !void_reason.is_empty() {
            r.say.push(format!("deal-set {name} is void: {void_reason}"));
        } else if !takes_part {
            r.say.push(format!("deal-set {name} was fixed without this bot's entropy"));
        }
        let mut in_play = self
            .contexts
            .iter()
            .filter(|(number, of)| self.told.contains(number) && **of == context);
        if let (true, Some((number, _))) = (void_reason.is_empty(), in_play.next()) {
            let what = format!("it opens the packs while match {number} is played with them");
            self.lie(&mut r, &context, &what);
        }
        self.keep(&mut r, &context);
        self.known.remove(&context);
        self.finish(context);
        r
    }

    // The bot's matches.

    pub fn on_match_start(&mut self, start: &v1::MatchStart) -> Reaction {
        let mut r = Reaction::default();
        let context = &start.deal_context;
        if context.is_empty() {
            return r;
        }
        let number = start.r#match;
        self.contexts.insert(number, context.clone());
        self.told.insert(number);
        if self.over.contains(context) {
            let what = format!("it begins match {number} with packs that are known");
            self.lie(&mut r, context, &what);
        }
        self.find(context, None);
        if let Some(own) = self.known.get_mut(context)
            && own.matches.iter().all(|shown| shown.number != number)
        {
            own.matches.push(Shown {
                number,
                game: start.terms.as_ref().map(|terms| terms.game.clone()).unwrap_or_default(),
                seat: start.seat,
                match_id: start.match_id.clone(),
                chain: vec![0; HASH_BYTES],
                asks: Vec::new(),
                end: None,
                last: Vec::new(),
            });
        }
        r
    }

    /// Chains an ask to those before it. The payload is the game's own message, as it came.
    pub fn on_ask(&mut self, ask: &v1::Ask, payload: Option<&[u8]>) -> Reaction {
        let mut r = Reaction::default();
        let (number, decision) = (ask.r#match, ask.decision);
        let (Some(payload), Some(was)) = (payload, self.shown_in(number)) else { return r };
        if decision == 0 {
            return r;
        }
        let sum = sha256(payload);
        let last = was.asks.last().map_or(0, |(decision, _)| *decision);
        if decision > last {
            was.chain = sha256(&[&was.chain, &decision.to_be_bytes()[..], payload].concat());
            was.last = sum;
            was.asks.push((decision, hex::encode(&was.chain[..4])));
        } else if decision == last && sum != was.last {
            let what = format!("it asks decision {last} of match {number} twice, and differently");
            let context = self.contexts[&number].clone();
            self.lie(&mut r, &context, &what);
        }
        r
    }

    /// Keeps what the end told: of each event the game's own message, as it came.
    pub fn on_match_end(&mut self, end: &v1::MatchEnd, events: &[&[u8]]) -> Reaction {
        let mut r = Reaction::default();
        let number = end.r#match;
        let kept = self.shown_in(number).map(|was| {
            if end.ending != v1::Ending::Unspecified as i32 {
                if !end.replay_id.is_empty() {
                    was.match_id.clone_from(&end.replay_id);
                }
                was.end = Some(sha256(&joined(events)));
            }
        });
        let context = self.contexts.remove(&number);
        self.told.remove(&number);
        if let (Some(()), Some(context)) = (kept, context) {
            self.keep(&mut r, &context);
        }
        r
    }

    // Inside.

    fn shown_in(&mut self, number: u32) -> Option<&mut Shown> {
        self.folder.as_ref()?;
        let own = self.known.get_mut(self.contexts.get(&number)?)?;
        own.matches.iter_mut().find(|shown| shown.number == number)
    }

    /// Sees that a deal is known, if it is not closed; from before this process was started too.
    fn find(&mut self, context: &[u8], participant: Option<&str>) -> bool {
        if self.known.contains_key(context) {
            return true;
        }
        if self.over.contains(context) {
            return false;
        }
        let found = self.folder.as_ref().and_then(|folder| folder.recall(context, participant));
        match found {
            None => false,
            Some(own) if own.opened.is_some() => {
                self.finish(context.to_vec());
                false
            }
            Some(own) => {
                self.remember(own);
                true
            }
        }
    }

    fn remember(&mut self, own: Deal) {
        self.oldest.push_back(own.context.clone());
        self.known.insert(own.context.clone(), own);
        if self.oldest.len() > REMEMBERED_DEALS
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn finish(&mut self, context: Vec<u8>) {
        self.closed.push_back(context.clone());
        self.over.insert(context);
        if self.closed.len() > REMEMBERED_DEALS
            && let Some(oldest) = self.closed.pop_front()
        {
            self.over.remove(&oldest);
        }
    }

    fn keep(&self, r: &mut Reaction, context: &[u8]) {
        let (Some(folder), Some(own)) = (&self.folder, self.known.get(context)) else { return };
        if let Err(why) = folder.keep(own) {
            let name = deal_name(context);
            r.say.push(format!("the receipt of deal-set {name} is not kept: {why}"));
        }
    }

    /// Notes a lie of the arena, and says it if it is new.
    fn lie(&mut self, r: &mut Reaction, context: &[u8], what: &str) {
        if let Some(own) = self.known.get_mut(context)
            && !own.lies.iter().any(|lie| lie == what)
        {
            own.lies.push(what.to_owned());
        }
        let line = format!("the arena LIED about deal-set {}: {what}", deal_name(context));
        if !self.lies.contains(&line) {
            self.lies.push(line.clone());
            r.say.push(line);
        }
    }
}

fn bot_message(body: Body) -> v1::BotMessage {
    v1::BotMessage { body: Some(body) }
}

/// What is wrong with the first transcript that a bot is shown: its own commitment and the seal. It
/// is early before the time to commit was over.
fn wrong_transcript(
    own: &Deal,
    commitment: &[u8],
    seal: &[u8],
    early: bool,
) -> Option<&'static str> {
    if commitment.len() != HASH_BYTES {
        return Some("it left this bot's commitment out");
    }
    if seal.len() != HASH_BYTES {
        return Some("it does not bind itself to what it received");
    }
    if commitment == own.commitment() {
        return None;
    }
    if commitment != NO_COMMITMENT {
        return Some("it replaced this bot's commitment");
    }
    early.then_some("it did not wait for this bot's commitment, or dropped it")
}

/// What is wrong with what the arena opened.
fn wrong_opening(own: &Deal, opened: &Opening) -> Option<String> {
    let name = &own.participant;
    let none = Vec::new();
    let of = |values: &'_ Named, name: &str| values.get(name).unwrap_or(&none).clone();
    let found = |what: &str| Some(what.to_owned());
    let opens = hash("server-commit", &[&own.context, &opened.secret]) == own.server_commitment;
    if opened.secret.len() != HASH_BYTES || !opens {
        return found("its secret does not open its commitment");
    }
    let salt = of(&opened.salts, name);
    if salt.len() != SALT_BYTES || view_of(&opened.deal, name, &salt) != own.context {
        return found("it opens another deal-set than it had named to this bot");
    }
    let entropy = of(&opened.entropies, name);
    let Some(shown) = &own.shown else {
        let never = !entropy.is_empty();
        return never.then(|| "it opens entropy that this bot never revealed".to_owned());
    };
    let void = !own.void_reason.is_empty();
    let other = Some(&entropy) != own.entropy.as_ref();
    if own.takes_part() && other && (!entropy.is_empty() || !void) {
        return found("it replaced this bot's entropy");
    }
    if void {
        return None; // somebody's opening is missing or wrong: that is why
    }
    if of(&opened.commitments, name) != *shown {
        return found("it opens another commitment of this bot's than it had shown");
    }
    if seal_of(&own.context, &opened.transcript(), &salt) != own.seal {
        return found("it opens other commitments than it had bound itself to");
    }
    for (each, commitment) in &opened.commitments {
        let entropy = of(&opened.entropies, each);
        let context = view_of(&opened.deal, each, &of(&opened.salts, each));
        if *commitment == NO_COMMITMENT {
            if !entropy.is_empty() {
                return Some(format!(
                    "participant {each} added entropy without having committed to it"
                ));
            }
        } else if entropy.len() != HASH_BYTES
            || commitment_of(&context, each, &entropy) != *commitment
        {
            return Some(format!("the entropy of participant {each} does not open its commitment"));
        }
    }
    None
}

#[cfg(test)]
mod tests;
