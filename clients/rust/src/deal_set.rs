//! What a bot knows of one deal-set. A receipt stores it.

use std::time::Instant;

use crate::hashes::{ByParticipant, commitment_of, key_of, transcript_of, view_transcript_of};

/// A hash chain over the asks that the bot received in one match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AskChain {
    pub match_number: u32,
    pub game: String,
    pub seat: u32,
    pub match_id: String,
    /// The hash after the last ask.
    pub hash: Vec<u8>,
    /// Each decision with the first 8 hexadecimal digits of the hash after it.
    pub links: Vec<(u32, String)>,
    /// SHA-256 of the events that came with the end of the match. None before.
    pub end_sha256: Option<Vec<u8>>,
    /// SHA-256 of the payload of the last ask.
    pub last_sha256: Vec<u8>,
}

/// What the arena publishes when a deal-set is over, by participant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Opening {
    pub deal: Vec<u8>,
    pub secret: Vec<u8>,
    pub commitments: ByParticipant,
    pub entropies: ByParticipant,
    pub salts: ByParticipant,
}

impl Opening {
    pub fn transcript(&self) -> Vec<u8> {
        transcript_of(&self.deal, &self.secret, &self.commitments)
    }
}

/// One deal-set, as this bot knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DealSet {
    /// Identifies the deal-set to this bot.
    pub context: Vec<u8>,
    /// The arena's commitment to its secret.
    pub server_commitment: Vec<u8>,
    pub participant: String,
    /// None if another process of this bot committed to it.
    pub entropy: Option<Vec<u8>>,
    /// The commitment that the arena already has, if `entropy` is None.
    pub prior_commitment: Vec<u8>,
    /// When the time to commit ends. None if the arena named no deadline.
    pub due: Option<Instant>,
    /// The bot's commitment in the arena's transcript. None before the transcript.
    pub shown_commitment: Option<Vec<u8>>,
    pub seal: Vec<u8>,
    pub public_key: Vec<u8>,
    pub signature: Vec<u8>,
    /// Whether the bot keeps its entropy to itself because the arena lied.
    pub refused: bool,
    /// None before the deal-set is over.
    pub opening: Option<Opening>,
    pub void_reason: String,
    pub lies: Vec<String>,
    /// The bot's matches, in the order in which they started.
    pub chains: Vec<AskChain>,
}

impl DealSet {
    pub fn commitment(&self) -> Vec<u8> {
        match &self.entropy {
            Some(entropy) => commitment_of(&self.context, &self.participant, entropy),
            None => self.prior_commitment.clone(),
        }
    }

    /// Whether the transcript includes the bot's entropy.
    pub fn takes_part(&self) -> bool {
        self.entropy.is_some() && self.shown_commitment.as_ref() == Some(&self.commitment())
    }

    /// The hash over everything that the bot saw before it revealed its entropy.
    pub fn transcript(&self) -> Option<Vec<u8>> {
        let commitment = self.shown_commitment.as_ref()?;
        let (context, participant) = (&self.context, &self.participant);
        let server = &self.server_commitment;
        Some(view_transcript_of(context, server, participant, commitment, &self.seal))
    }

    /// The key from which all packs are derived. None before the opening, and if the deal-set is
    /// void.
    pub fn key(&self) -> Option<Vec<u8>> {
        let opening = self.opening.as_ref()?;
        if self.shown_commitment.is_none() || !self.void_reason.is_empty() {
            return None;
        }
        Some(key_of(&opening.transcript(), &opening.secret, &opening.entropies))
    }
}

/// The name of a deal-set in messages.
pub(crate) fn deal_name(context: &[u8]) -> String {
    hex::encode(context).chars().take(12).collect()
}
