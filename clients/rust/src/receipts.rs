//! Receipts prove what the arena sent in fair deals. `docs/fair-deals.md` has their format.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;

use serde_json::{Map, Value, json};

use crate::deal_set::{AskChain, DealSet, Opening};
use crate::hashes::{ByParticipant, sha256};

const FORMAT: &str = "fd2";

/// A folder of receipts, with a file for each deal-set.
///
/// Each bot needs a folder of its own. A restarted bot reads its entropy from it, because a receipt
/// is written before the bot reveals anything.
pub(crate) struct ReceiptFolder(PathBuf);

impl ReceiptFolder {
    pub fn new(path: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Writes the receipt of a deal-set. A failure leaves the previous receipt as it was.
    pub fn write(&self, deal: &DealSet) -> io::Result<()> {
        let path = self.0.join(file_name(&deal.context, &deal.participant));
        let partial = path.with_extension(format!("json.{}.partial", process::id()));
        let written = write_private(&partial, &format!("{}\n", to_json(deal)));
        let renamed = written.and_then(|()| fs::rename(&partial, &path));
        if renamed.is_err() {
            let _ = fs::remove_file(&partial);
        }
        renamed
    }

    /// Reads the receipt of a deal-set. None if there is no valid receipt.
    ///
    /// Without a participant, it reads the receipt of any; None if there are several.
    pub fn read(&self, context: &[u8], participant: Option<&str>) -> Option<DealSet> {
        let path = match participant {
            Some(participant) => self.0.join(file_name(context, participant)),
            None => self.only_file(context)?,
        };
        let receipt: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let deal = from_json(&receipt)?;
        (receipt["receipt"] == FORMAT && deal.context == context).then_some(deal)
    }

    fn only_file(&self, context: &[u8]) -> Option<PathBuf> {
        let prefix = format!("{}-", stem(context));
        let paths = fs::read_dir(&self.0).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut found = paths.filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".json")
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// Writes a file that only its owner can read: the entropy is secret until the bot reveals it.
fn write_private(path: &PathBuf, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn stem(context: &[u8]) -> String {
    hex::encode(&context[..context.len().min(8)])
}

/// The name of a receipt. It has a hash of the participant's name, because the arena may send a
/// name that is a path.
fn file_name(context: &[u8], participant: &str) -> String {
    let participant = hex::encode(&sha256(participant.as_bytes())[..4]);
    format!("{}-{participant}.json", stem(context))
}

/// Bytes in hexadecimal, or null if there are none.
fn hex_or_null(bytes: &[u8]) -> Value {
    if bytes.is_empty() { Value::Null } else { hex::encode(bytes).into() }
}

fn hex_by_participant(values: &ByParticipant) -> Value {
    let values = values.iter().map(|(name, value)| (name.clone(), hex::encode(value).into()));
    values.collect::<Map<_, _>>().into()
}

/// The receipt of a deal-set. What is not known yet is null.
fn to_json(deal: &DealSet) -> Value {
    let optional = |bytes: Option<Vec<u8>>| hex_or_null(&bytes.unwrap_or_default());
    let opening = deal.opening.as_ref();
    let opened = |part: fn(&Opening) -> Value| opening.map_or(Value::Null, part);
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let matches = deal.chains.iter().map(|chain| {
        json!({
            "match": chain.match_number,
            "replay_id": text(&chain.match_id),
            "game": chain.game,
            "seat": chain.seat,
            "asks": chain.links,
            "chain": hex_or_null(&chain.hash),
            "end": optional(chain.end_sha256.clone()),
            "last_sha256": hex_or_null(&chain.last_sha256),
        })
    });
    json!({
        "receipt": FORMAT,
        "context": hex_or_null(&deal.context),
        "server_commitment": hex_or_null(&deal.server_commitment),
        "participant": deal.participant,
        "entropy": optional(deal.entropy.clone()),
        "commitment": hex_or_null(&deal.commitment()),
        "shown": optional(deal.shown_commitment.clone()),
        "seal": hex_or_null(&deal.seal),
        "transcript": optional(deal.transcript()),
        "public_key": hex_or_null(&deal.public_key),
        "signature": hex_or_null(&deal.signature),
        "refused": deal.refused,
        "deal": opened(|opening| hex_or_null(&opening.deal)),
        "secret": opened(|opening| hex_or_null(&opening.secret)),
        "commitments": opened(|opening| hex_by_participant(&opening.commitments)),
        "entropies": opened(|opening| hex_by_participant(&opening.entropies)),
        "salts": opened(|opening| hex_by_participant(&opening.salts)),
        "deal_key": optional(deal.key()),
        "void_reason": deal.void_reason,
        "lies": deal.lies,
        "matches": matches.collect::<Vec<_>>(),
    })
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => Some(Vec::new()),
        value => hex::decode(value.as_str()?).ok(),
    }
}

fn optional_bytes(value: &Value) -> Option<Option<Vec<u8>>> {
    bytes(value).map(|bytes| (!bytes.is_empty()).then_some(bytes))
}

fn by_participant(value: &Value) -> Option<ByParticipant> {
    let all = value.as_object()?.iter();
    all.map(|(name, value)| Some((name.clone(), bytes(value)?))).collect()
}

/// The deal-set of a receipt. None if the JSON is not a complete receipt.
fn from_json(receipt: &Value) -> Option<DealSet> {
    let entropy = optional_bytes(&receipt["entropy"])?;
    let prior_commitment =
        if entropy.is_none() { bytes(&receipt["commitment"])? } else { Vec::new() };
    let opening = match &receipt["commitments"] {
        Value::Null => None,
        commitments => Some(Opening {
            deal: bytes(&receipt["deal"])?,
            secret: bytes(&receipt["secret"])?,
            commitments: by_participant(commitments)?,
            entropies: by_participant(&receipt["entropies"])?,
            salts: by_participant(&receipt["salts"])?,
        }),
    };
    let lies = receipt["lies"].as_array()?.iter().map(|lie| Some(lie.as_str()?.to_owned()));
    Some(DealSet {
        context: bytes(&receipt["context"])?,
        server_commitment: bytes(&receipt["server_commitment"])?,
        participant: receipt["participant"].as_str()?.to_owned(),
        entropy,
        prior_commitment,
        due: None,
        shown_commitment: optional_bytes(&receipt["shown"])?,
        seal: bytes(&receipt["seal"])?,
        public_key: bytes(&receipt["public_key"])?,
        signature: bytes(&receipt["signature"])?,
        refused: receipt["refused"].as_bool()?,
        opening,
        void_reason: receipt["void_reason"].as_str()?.to_owned(),
        lies: lies.collect::<Option<_>>()?,
        chains: receipt["matches"].as_array()?.iter().map(chain_of).collect::<Option<_>>()?,
    })
}

fn chain_of(receipt: &Value) -> Option<AskChain> {
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let link = |link: &Value| Some((number(&link[0])?, link[1].as_str()?.to_owned()));
    Some(AskChain {
        match_number: number(&receipt["match"])?,
        game: receipt["game"].as_str()?.to_owned(),
        seat: number(&receipt["seat"])?,
        match_id: receipt["replay_id"].as_str().unwrap_or_default().to_owned(),
        hash: bytes(&receipt["chain"])?,
        links: receipt["asks"].as_array()?.iter().map(link).collect::<Option<_>>()?,
        end_sha256: optional_bytes(&receipt["end"])?,
        last_sha256: bytes(&receipt["last_sha256"])?,
    })
}
