//! The hashes of protocol fd2, `docs/fair-deals.md`.

use std::collections::BTreeMap;

use ring::{digest, hmac};

/// Bytes of a hash, a commitment, and entropy.
pub(crate) const HASH_BYTES: usize = 32;

/// Bytes by participant.
pub(crate) type Named = BTreeMap<String, Vec<u8>>;

pub(crate) fn sha256(data: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, data).as_ref().to_vec()
}

/// Byte strings with their lengths, so that no two lists of them look alike.
pub(crate) fn joined<B: AsRef<[u8]>>(parts: &[B]) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        let part = part.as_ref();
        all.extend_from_slice(&(part.len() as u32).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// The protocol's hash for one purpose.
pub(crate) fn hash(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let labels: [&[u8]; 2] = [b"fd1", label.as_bytes()];
    sha256(&joined(&[&labels, parts].concat()))
}

pub(crate) fn commitment_of(context: &[u8], participant: &str, entropy: &[u8]) -> Vec<u8> {
    hash("bot-commit", &[context, participant.as_bytes(), entropy])
}

/// The context of a deal-set as one participant is told it.
pub(crate) fn view_of(deal: &[u8], participant: &str, salt: &[u8]) -> Vec<u8> {
    hash("view", &[deal, participant.as_bytes(), salt])
}

/// Binds the arena to a transcript that it does not show yet.
pub(crate) fn seal_of(context: &[u8], transcript: &[u8], salt: &[u8]) -> Vec<u8> {
    hash("seal", &[context, transcript, salt])
}

/// Ties together all that one participant is shown before it reveals.
pub(crate) fn shown_of(
    context: &[u8],
    server_commitment: &[u8],
    participant: &str,
    commitment: &[u8],
    seal: &[u8],
) -> Vec<u8> {
    let own = joined(&[participant.as_bytes(), commitment]);
    hash("view-transcript", &[context, server_commitment, &own, seal])
}

/// Ties together all commitments of a deal-set.
pub(crate) fn transcript_of(deal: &[u8], secret: &[u8], commitments: &Named) -> Vec<u8> {
    let server_commitment = hash("server-commit", &[deal, secret]);
    let pairs = pairs(commitments);
    let mut parts: Vec<&[u8]> = vec![deal, &server_commitment];
    parts.extend(pairs.iter().map(Vec::as_slice));
    hash("transcript", &parts)
}

/// What all packs of the deal-set follow from.
pub(crate) fn key_of(transcript: &[u8], secret: &[u8], entropies: &Named) -> Vec<u8> {
    let mut parts = vec![secret.to_vec()];
    parts.extend(pairs(entropies));
    let key = hmac::Key::new(hmac::HMAC_SHA256, transcript);
    hmac::sign(&key, &joined(&parts)).as_ref().to_vec()
}

fn pairs(values: &Named) -> Vec<Vec<u8>> {
    values.iter().map(|(name, value)| joined(&[name.as_bytes(), value.as_slice()])).collect()
}
