//! The hashes of fair deals, protocol fd2 of `docs/fair-deals.md`.

use std::collections::BTreeMap;

use ring::{digest, hmac};

/// The length of a hash, a commitment and entropy, in bytes.
pub(crate) const HASH_BYTES: usize = 32;

/// Bytes by participant.
pub(crate) type ByParticipant = BTreeMap<String, Vec<u8>>;

pub(crate) fn sha256(data: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, data).as_ref().to_vec()
}

/// Concatenates byte strings, each after its length, so that different lists give different bytes.
pub(crate) fn joined<B: AsRef<[u8]>>(parts: &[B]) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        let part = part.as_ref();
        all.extend_from_slice(&(part.len() as u32).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// The protocol's hash, with a label for each purpose.
pub(crate) fn hash(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let labels: [&[u8]; 2] = [b"fd1", label.as_bytes()];
    sha256(&joined(&[&labels, parts].concat()))
}

/// A participant's commitment to its entropy.
pub(crate) fn commitment_of(context: &[u8], participant: &str, entropy: &[u8]) -> Vec<u8> {
    hash("bot-commit", &[context, participant.as_bytes(), entropy])
}

/// The context that identifies a deal-set to one participant.
pub(crate) fn view_of(deal: &[u8], participant: &str, salt: &[u8]) -> Vec<u8> {
    hash("view", &[deal, participant.as_bytes(), salt])
}

/// Binds the arena to a transcript before it publishes it.
pub(crate) fn seal_of(context: &[u8], transcript: &[u8], salt: &[u8]) -> Vec<u8> {
    hash("seal", &[context, transcript, salt])
}

/// Binds everything that one participant sees before it reveals its entropy.
pub(crate) fn view_transcript_of(
    context: &[u8],
    server_commitment: &[u8],
    participant: &str,
    commitment: &[u8],
    seal: &[u8],
) -> Vec<u8> {
    let own = joined(&[participant.as_bytes(), commitment]);
    hash("view-transcript", &[context, server_commitment, &own, seal])
}

/// Binds all commitments of a deal-set.
pub(crate) fn transcript_of(deal: &[u8], secret: &[u8], commitments: &ByParticipant) -> Vec<u8> {
    let server_commitment = hash("server-commit", &[deal, secret]);
    let pairs = pairs(commitments);
    let mut parts: Vec<&[u8]> = vec![deal, &server_commitment];
    parts.extend(pairs.iter().map(Vec::as_slice));
    hash("transcript", &parts)
}

/// The key from which all packs of the deal-set are derived.
pub(crate) fn key_of(transcript: &[u8], secret: &[u8], entropies: &ByParticipant) -> Vec<u8> {
    let mut parts = vec![secret.to_vec()];
    parts.extend(pairs(entropies));
    let key = hmac::Key::new(hmac::HMAC_SHA256, transcript);
    hmac::sign(&key, &joined(&parts)).as_ref().to_vec()
}

fn pairs(values: &ByParticipant) -> Vec<Vec<u8>> {
    values.iter().map(|(name, value)| joined(&[name.as_bytes(), value.as_slice()])).collect()
}
