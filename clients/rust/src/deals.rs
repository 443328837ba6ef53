//! A bot's part in fair deals, protocol fd2 of `docs/fair-deals.md`: it commits, reveals and checks.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::deal_set::{AskChain, DealSet, Opening, deal_name};
use crate::hashes::{
    ByParticipant, HASH_BYTES, commitment_of, hash, joined, seal_of, sha256, view_of,
};
use crate::receipts::ReceiptFolder;
use crate::v1::{self, bot_message::Body};

const SALT_BYTES: usize = 32;
const SIGNATURE_BYTES: usize = 64;
/// An arena that continues this long before the deadline without a commitment does not lie: the
/// network may have delayed a message.
const DEADLINE_TOLERANCE: Duration = Duration::from_secs(1);
/// The maximum number of remembered deal-sets in play, and of those that are over.
const MAX_REMEMBERED: usize = 4096;
const NO_COMMITMENT: [u8; HASH_BYTES] = [0; HASH_BYTES];

/// What to do about a message of the arena.
#[derive(Debug, Default)]
pub(crate) struct Reaction {
    pub send: Vec<v1::BotMessage>,
    /// Lines for the log.
    pub warnings: Vec<String>,
}

/// Draws 32 random bytes that nobody can predict.
pub(crate) type DrawEntropy = Box<dyn FnMut() -> Vec<u8> + Send>;

/// All fair deals of a bot.
pub(crate) struct Deals {
    /// What the arena lied about, one sentence each.
    pub lies: Vec<String>,
    /// None if the bot stores no receipts.
    receipts: Option<ReceiptFolder>,
    draw_entropy: DrawEntropy,
    /// Deal-sets in play, by context.
    open: HashMap<Vec<u8>, DealSet>,
    open_oldest_first: VecDeque<Vec<u8>>,
    /// Contexts of deal-sets that are over.
    closed: HashSet<Vec<u8>>,
    closed_oldest_first: VecDeque<Vec<u8>>,
    /// The context of each match in play.
    contexts: BTreeMap<u32, Vec<u8>>,
    /// The matches that the arena announced on the current stream.
    announced: HashSet<u32>,
}

impl Deals {
    pub fn new(receipts: Option<ReceiptFolder>, draw_entropy: DrawEntropy) -> Self {
        Self {
            lies: Vec::new(),
            receipts,
            draw_entropy,
            open: HashMap::new(),
            open_oldest_first: VecDeque::new(),
            closed: HashSet::new(),
            closed_oldest_first: VecDeque::new(),
            contexts: BTreeMap::new(),
            announced: HashSet::new(),
        }
    }

    /// Starts a new stream. The arena announces on it which matches are in play.
    pub fn on_stream(&mut self) {
        self.announced.clear();
    }

    /// Commits to entropy for a deal-set.
    pub fn on_open(&mut self, message: v1::DealOpen, now: Instant) -> Reaction {
        let mut reaction = Reaction::default();
        let v1::DealOpen { context, server_commitment, participant, public_key, .. } = message;
        let prior = message.commitment;
        if context.len() != HASH_BYTES || server_commitment.len() != HASH_BYTES {
            let why = "ignored a fair deal: its context or commitment does not have 32 bytes";
            reaction.warnings.push(why.to_owned());
            return reaction;
        }
        let known = self.load(&context, Some(&participant));
        if self.closed.contains(&context) {
            self.lie(&mut reaction, &context, "it reopened a deal-set whose packs are public");
            return reaction;
        }
        if !known {
            let entropy = prior.is_empty().then(|| (self.draw_entropy)());
            self.remember(DealSet {
                context: context.clone(),
                server_commitment: server_commitment.clone(),
                participant: participant.clone(),
                public_key: public_key.clone(),
                entropy,
                prior_commitment: prior.clone(),
                ..DealSet::default()
            });
            self.store(&mut reaction, &context);
        }
        let Some(deal) = self.open.get_mut(&context) else { return reaction };
        let same = deal.server_commitment == server_commitment
            && deal.participant == participant
            && deal.public_key == public_key;
        if !same {
            deal.refused = true;
            self.lie(&mut reaction, &context, "it sent two different commitments");
            return reaction;
        }
        if !prior.is_empty() && prior != NO_COMMITMENT && prior != deal.commitment() {
            deal.refused = true;
            self.lie(&mut reaction, &context, "it replaced this bot's commitment");
            return reaction;
        }
        if !prior.is_empty() {
            return reaction; // the arena has the commitment, or the deadline is over
        }
        deal.due = Some(now + Duration::from_millis(message.deadline_ms.into()));
        let commitment = deal.commitment();
        let commit = Body::DealCommit(v1::DealCommit { context, commitment });
        reaction.send.push(bot_message(commit));
        reaction
    }

    /// Checks the transcript, and reveals the bot's entropy if it is right.
    pub fn on_transcript(&mut self, message: v1::DealTranscript, now: Instant) -> Reaction {
        let mut reaction = Reaction::default();
        let v1::DealTranscript { context, commitment, seal, signature, .. } = message;
        let not_revealed = || {
            let name = deal_name(&context);
            format!("deal-set {name}: not revealed, because this process did not commit to it")
        };
        if !self.load(&context, None) {
            if !self.closed.contains(&context) {
                reaction.warnings.push(not_revealed());
            }
            return reaction;
        }
        let Some(deal) = self.open.get_mut(&context) else { return reaction };
        let lie = match &deal.shown_commitment {
            None => {
                let early = deal.due.is_some_and(|due| now + DEADLINE_TOLERANCE < due);
                let lie = lie_in_transcript(deal, &commitment, &seal, early);
                if lie.is_none() {
                    (deal.shown_commitment, deal.seal) = (Some(commitment), seal);
                    deal.signature = signature;
                }
                lie
            }
            Some(shown) if *shown != commitment || deal.seal != seal => {
                Some("it sent a second transcript that differs from the first")
            }
            Some(_) => None,
        };
        let unsigned = !deal.public_key.is_empty() && deal.signature.len() != SIGNATURE_BYTES;
        if let Some(what) = lie {
            deal.refused = true;
            let what = format!("{what}; this bot does not reveal its entropy");
            self.lie(&mut reaction, &context, &what);
        } else if unsigned {
            // The bot reveals all the same: not to reveal would lose it the deal-set.
            self.lie(&mut reaction, &context, "it has a key, but did not sign the transcript");
        }
        self.store(&mut reaction, &context);
        let Some(deal) = self.open.get(&context) else { return reaction };
        if deal.entropy.is_none() && deal.commitment() != NO_COMMITMENT {
            reaction.warnings.push(not_revealed());
        }
        if let Some(entropy) = deal.entropy.clone()
            && deal.takes_part()
            && !deal.refused
        {
            let reveal = Body::DealReveal(v1::DealReveal { context, entropy });
            reaction.send.push(bot_message(reveal));
        }
        reaction
    }

    /// Checks the opening of a deal-set that is over.
    pub fn on_close(&mut self, message: v1::DealClose) -> Reaction {
        let mut reaction = Reaction::default();
        let context = message.context;
        if !self.load(&context, None) {
            return reaction;
        }
        let Some(deal) = self.open.get_mut(&context) else { return reaction };
        let mut opening =
            Opening { deal: message.deal, secret: message.secret, ..Opening::default() };
        let in_order = message.entropies.is_sorted_by(|a, b| a.participant < b.participant);
        for each in message.entropies {
            opening.commitments.insert(each.participant.clone(), each.commitment);
            opening.entropies.insert(each.participant.clone(), each.entropy);
            opening.salts.insert(each.participant, each.salt);
        }
        deal.void_reason = message.void_reason;
        let lie = if in_order {
            lie_in_opening(deal, &opening)
        } else {
            Some("it opened participants out of order, or one of them twice".to_owned())
        };
        deal.opening = Some(opening);
        let (void_reason, takes_part) = (deal.void_reason.clone(), deal.takes_part());
        if let Some(what) = lie {
            self.lie(&mut reaction, &context, &what);
        }
        let name = deal_name(&context);
        if !void_reason.is_empty() {
            reaction.warnings.push(format!("deal-set {name} is void: {void_reason}"));
        } else if !takes_part {
            let line = format!("deal-set {name} was dealt without this bot's entropy");
            reaction.warnings.push(line);
        }
        let mut in_play = self
            .contexts
            .iter()
            .filter(|(number, of)| self.announced.contains(number) && **of == context);
        if let (true, Some((number, _))) = (void_reason.is_empty(), in_play.next()) {
            let what = format!("it published the packs while match {number} was played with them");
            self.lie(&mut reaction, &context, &what);
        }
        self.store(&mut reaction, &context);
        self.open.remove(&context);
        self.close(context);
        reaction
    }

    // The bot's matches.

    pub fn on_match_start(&mut self, start: &v1::MatchStart) -> Reaction {
        let mut reaction = Reaction::default();
        let context = &start.deal_context;
        if context.is_empty() {
            return reaction;
        }
        let number = start.r#match;
        self.contexts.insert(number, context.clone());
        self.announced.insert(number);
        if self.closed.contains(context) {
            let what = format!("it started match {number} with packs that are public");
            self.lie(&mut reaction, context, &what);
        }
        self.load(context, None);
        if let Some(deal) = self.open.get_mut(context)
            && deal.chains.iter().all(|chain| chain.match_number != number)
        {
            deal.chains.push(AskChain {
                match_number: number,
                game: start.terms.as_ref().map(|terms| terms.game.clone()).unwrap_or_default(),
                seat: start.seat,
                match_id: start.match_id.clone(),
                hash: vec![0; HASH_BYTES],
                links: Vec::new(),
                end_sha256: None,
                last_sha256: Vec::new(),
            });
        }
        reaction
    }

    /// Adds an ask to the chain of its match.
    ///
    /// The payload is the game's own message, as the arena encoded it.
    pub fn on_ask(&mut self, ask: &v1::Ask, payload: Option<&[u8]>) -> Reaction {
        let mut reaction = Reaction::default();
        let (number, decision) = (ask.r#match, ask.decision);
        let (Some(payload), Some(chain)) = (payload, self.chain_of(number)) else {
            return reaction;
        };
        if decision == 0 {
            return reaction;
        }
        let sum = sha256(payload);
        let last = chain.links.last().map_or(0, |(decision, _)| *decision);
        if decision > last {
            chain.hash = sha256(&[&chain.hash, &decision.to_be_bytes()[..], payload].concat());
            chain.last_sha256 = sum;
            chain.links.push((decision, hex::encode(&chain.hash[..4])));
        } else if decision == last && sum != chain.last_sha256 {
            let what = format!("it sent decision {last} of match {number} twice and differently");
            let context = self.contexts[&number].clone();
            self.lie(&mut reaction, &context, &what);
        }
        reaction
    }

    /// Completes the chain of a match with the events that came with its end.
    ///
    /// Each event is the game's own message, as the arena encoded it.
    pub fn on_match_end(&mut self, end: &v1::MatchEnd, events: &[&[u8]]) -> Reaction {
        let mut reaction = Reaction::default();
        let number = end.r#match;
        let changed = self.chain_of(number).map(|chain| {
            if end.ending != v1::Ending::Unspecified as i32 {
                if !end.replay_id.is_empty() {
                    chain.match_id.clone_from(&end.replay_id);
                }
                chain.end_sha256 = Some(sha256(&joined(events)));
            }
        });
        let context = self.contexts.remove(&number);
        self.announced.remove(&number);
        if let (Some(()), Some(context)) = (changed, context) {
            self.store(&mut reaction, &context);
        }
        reaction
    }

    /// The chain of a match. None if the bot stores no receipts.
    fn chain_of(&mut self, number: u32) -> Option<&mut AskChain> {
        self.receipts.as_ref()?;
        let deal = self.open.get_mut(self.contexts.get(&number)?)?;
        deal.chains.iter_mut().find(|chain| chain.match_number == number)
    }

    /// Whether a deal-set is in play. A receipt of an earlier process is loaded first.
    fn load(&mut self, context: &[u8], participant: Option<&str>) -> bool {
        if self.open.contains_key(context) {
            return true;
        }
        if self.closed.contains(context) {
            return false;
        }
        let receipt = self.receipts.as_ref().and_then(|folder| folder.read(context, participant));
        match receipt {
            None => false,
            Some(deal) if deal.opening.is_some() => {
                self.close(context.to_vec());
                false
            }
            Some(deal) => {
                self.remember(deal);
                true
            }
        }
    }

    fn remember(&mut self, deal: DealSet) {
        self.open_oldest_first.push_back(deal.context.clone());
        self.open.insert(deal.context.clone(), deal);
        if self.open_oldest_first.len() > MAX_REMEMBERED
            && let Some(oldest) = self.open_oldest_first.pop_front()
        {
            self.open.remove(&oldest);
        }
    }

    fn close(&mut self, context: Vec<u8>) {
        self.closed_oldest_first.push_back(context.clone());
        self.closed.insert(context);
        if self.closed_oldest_first.len() > MAX_REMEMBERED
            && let Some(oldest) = self.closed_oldest_first.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    fn store(&self, reaction: &mut Reaction, context: &[u8]) {
        let (Some(folder), Some(deal)) = (&self.receipts, self.open.get(context)) else { return };
        if let Err(why) = folder.write(deal) {
            let name = deal_name(context);
            reaction.warnings.push(format!("cannot store the receipt of deal-set {name}: {why}"));
        }
    }

    /// Records a lie of the arena, and warns the author if it is new.
    fn lie(&mut self, reaction: &mut Reaction, context: &[u8], what: &str) {
        if let Some(deal) = self.open.get_mut(context)
            && !deal.lies.iter().any(|lie| lie == what)
        {
            deal.lies.push(what.to_owned());
        }
        let line = format!("the arena LIED about deal-set {}: {what}", deal_name(context));
        if !self.lies.contains(&line) {
            self.lies.push(line.clone());
            reaction.warnings.push(line);
        }
    }
}

fn bot_message(body: Body) -> v1::BotMessage {
    v1::BotMessage { body: Some(body) }
}

/// The lie in the first transcript of a deal-set. `early` is whether it came before the deadline.
fn lie_in_transcript(
    deal: &DealSet,
    commitment: &[u8],
    seal: &[u8],
    early: bool,
) -> Option<&'static str> {
    if commitment.len() != HASH_BYTES {
        return Some("it left out this bot's commitment");
    }
    if seal.len() != HASH_BYTES {
        return Some("it sent no seal over the commitments");
    }
    if commitment == deal.commitment() {
        return None;
    }
    if commitment != NO_COMMITMENT {
        return Some("it replaced this bot's commitment");
    }
    early.then_some("it did not wait for this bot's commitment, or dropped it")
}

/// The lie in the opening of a deal-set.
fn lie_in_opening(deal: &DealSet, opening: &Opening) -> Option<String> {
    let name = &deal.participant;
    let none = Vec::new();
    let of = |values: &'_ ByParticipant, name: &str| values.get(name).unwrap_or(&none).clone();
    let found = |what: &str| Some(what.to_owned());
    let matches =
        hash("server-commit", &[&deal.context, &opening.secret]) == deal.server_commitment;
    if opening.secret.len() != HASH_BYTES || !matches {
        return found("its secret does not match its commitment");
    }
    let salt = of(&opening.salts, name);
    if salt.len() != SALT_BYTES || view_of(&opening.deal, name, &salt) != deal.context {
        return found("it opened another deal-set than the one it named to this bot");
    }
    let entropy = of(&opening.entropies, name);
    let Some(shown) = &deal.shown_commitment else {
        let lied = !entropy.is_empty();
        return lied.then(|| "it published entropy that this bot never revealed".to_owned());
    };
    let void = !deal.void_reason.is_empty();
    let differs = Some(&entropy) != deal.entropy.as_ref();
    if deal.takes_part() && differs && (!entropy.is_empty() || !void) {
        return found("it replaced this bot's entropy");
    }
    if void {
        return None; // a participant's entropy is missing or wrong, which made the deal-set void
    }
    if of(&opening.commitments, name) != *shown {
        return found("it opened another commitment of this bot than the one in its transcript");
    }
    if seal_of(&deal.context, &opening.transcript(), &salt) != deal.seal {
        return found("it opened commitments that do not match its seal");
    }
    for (each, commitment) in &opening.commitments {
        let entropy = of(&opening.entropies, each);
        let context = view_of(&opening.deal, each, &of(&opening.salts, each));
        if *commitment == NO_COMMITMENT {
            if !entropy.is_empty() {
                return Some(format!("participant {each} added entropy without a commitment"));
            }
        } else if entropy.len() != HASH_BYTES
            || commitment_of(&context, each, &entropy) != *commitment
        {
            let what = format!("the entropy of participant {each} does not match its commitment");
            return Some(what);
        }
    }
    None
}

#[cfg(test)]
mod tests;
