//! Receipts: what a bot can prove of fair deals, as `docs/fair-deals.md` says.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;

use serde_json::{Map, Value, json};

use crate::deals::{Deal, Opening, Shown};
use crate::hashes::{Named, sha256};

const FORMAT: &str = "fd2";

/// One file for each deal-set. The folder belongs to one bot alone: a bot that is restarted finds
/// its entropy there, as a receipt is written before anything is revealed.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub fn new(path: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Writes a deal as it is now, whole or not at all.
    pub fn keep(&self, own: &Deal) -> io::Result<()> {
        let path = self.0.join(file_name(&own.context, &own.participant));
        let partial = path.with_extension(format!("json.{}.partial", process::id()));
        let written = write_for_the_owner(&partial, &format!("{}\n", receipt_of(own)));
        let kept = written.and_then(|()| fs::rename(&partial, &path));
        if kept.is_err() {
            let _ = fs::remove_file(&partial);
        }
        kept
    }

    /// The deal that was kept, of any participant if none is named; none if there is no receipt, or
    /// more than one.
    pub fn recall(&self, context: &[u8], participant: Option<&str>) -> Option<Deal> {
        let path = match participant {
            Some(participant) => self.0.join(file_name(context, participant)),
            None => self.only(context)?,
        };
        let kept: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let own = deal_of(&kept)?;
        (kept["receipt"] == FORMAT && own.context == context).then_some(own)
    }

    fn only(&self, context: &[u8]) -> Option<PathBuf> {
        let begin = format!("{}-", stem(context));
        let names = fs::read_dir(&self.0).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut found = names.filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&begin) && name.ends_with(".json")
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// Before it is revealed, the entropy is nobody else's business.
fn write_for_the_owner(path: &PathBuf, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn stem(context: &[u8]) -> String {
    hex::encode(&context[..context.len().min(8)])
}

/// What a receipt is filed under. Whatever the arena calls a participant, it is no path.
fn file_name(context: &[u8], participant: &str) -> String {
    let own = hex::encode(&sha256(participant.as_bytes())[..4]);
    format!("{}-{own}.json", stem(context))
}

/// Bytes in hexadecimal; none are null.
fn digits(bytes: &[u8]) -> Value {
    if bytes.is_empty() { Value::Null } else { hex::encode(bytes).into() }
}

fn named(values: &Named) -> Value {
    let values = values.iter().map(|(name, value)| (name.clone(), hex::encode(value).into()));
    values.collect::<Map<_, _>>().into()
}

/// The JSON of a deal; what is not known yet is null.
fn receipt_of(own: &Deal) -> Value {
    let optional = |bytes: Option<Vec<u8>>| digits(&bytes.unwrap_or_default());
    let opened = own.opened.as_ref();
    let of_opened = |part: fn(&Opening) -> Value| opened.map_or(Value::Null, part);
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let matches = own.matches.iter().map(|was| {
        json!({
            "match": was.number,
            "replay_id": text(&was.match_id),
            "game": was.game,
            "seat": was.seat,
            "asks": was.asks,
            "chain": digits(&was.chain),
            "end": optional(was.end.clone()),
            "last_sha256": digits(&was.last),
        })
    });
    json!({
        "receipt": FORMAT,
        "context": digits(&own.context),
        "server_commitment": digits(&own.server_commitment),
        "participant": own.participant,
        "entropy": optional(own.entropy.clone()),
        "commitment": digits(&own.commitment()),
        "shown": optional(own.shown.clone()),
        "seal": digits(&own.seal),
        "transcript": optional(own.transcript()),
        "public_key": digits(&own.public_key),
        "signature": digits(&own.signature),
        "refused": own.refused,
        "deal": of_opened(|opened| digits(&opened.deal)),
        "secret": of_opened(|opened| digits(&opened.secret)),
        "commitments": of_opened(|opened| named(&opened.commitments)),
        "entropies": of_opened(|opened| named(&opened.entropies)),
        "salts": of_opened(|opened| named(&opened.salts)),
        "deal_key": optional(own.key()),
        "void_reason": own.void_reason,
        "lies": own.lies,
        "matches": matches.collect::<Vec<_>>(),
    })
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => Some(Vec::new()),
        value => hex::decode(value.as_str()?).ok(),
    }
}

fn known(value: &Value) -> Option<Option<Vec<u8>>> {
    bytes(value).map(|bytes| (!bytes.is_empty()).then_some(bytes))
}

fn names(value: &Value) -> Option<Named> {
    let all = value.as_object()?.iter();
    all.map(|(name, value)| Some((name.clone(), bytes(value)?))).collect()
}

/// None of what is no receipt, or not whole.
fn deal_of(kept: &Value) -> Option<Deal> {
    let entropy = known(&kept["entropy"])?;
    let stood = if entropy.is_none() { bytes(&kept["commitment"])? } else { Vec::new() };
    let opened = match &kept["commitments"] {
        Value::Null => None,
        commitments => Some(Opening {
            deal: bytes(&kept["deal"])?,
            secret: bytes(&kept["secret"])?,
            commitments: names(commitments)?,
            entropies: names(&kept["entropies"])?,
            salts: names(&kept["salts"])?,
        }),
    };
    let lies = kept["lies"].as_array()?.iter().map(|lie| Some(lie.as_str()?.to_owned()));
    Some(Deal {
        context: bytes(&kept["context"])?,
        server_commitment: bytes(&kept["server_commitment"])?,
        participant: kept["participant"].as_str()?.to_owned(),
        entropy,
        stood,
        due: None,
        shown: known(&kept["shown"])?,
        seal: bytes(&kept["seal"])?,
        public_key: bytes(&kept["public_key"])?,
        signature: bytes(&kept["signature"])?,
        refused: kept["refused"].as_bool()?,
        opened,
        void_reason: kept["void_reason"].as_str()?.to_owned(),
        lies: lies.collect::<Option<_>>()?,
        matches: kept["matches"].as_array()?.iter().map(shown_of).collect::<Option<_>>()?,
    })
}

fn shown_of(kept: &Value) -> Option<Shown> {
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let link = |link: &Value| Some((number(&link[0])?, link[1].as_str()?.to_owned()));
    Some(Shown {
        number: number(&kept["match"])?,
        game: kept["game"].as_str()?.to_owned(),
        seat: number(&kept["seat"])?,
        match_id: kept["replay_id"].as_str().unwrap_or_default().to_owned(),
        chain: bytes(&kept["chain"])?,
        asks: kept["asks"].as_array()?.iter().map(link).collect::<Option<_>>()?,
        end: known(&kept["end"])?,
        last: bytes(&kept["last_sha256"])?,
    })
}
