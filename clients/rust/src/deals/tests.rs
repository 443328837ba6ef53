//! Fair deals, with the vectors of the arena's tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, process};

use prost::Message;
use serde_json::Value;

use super::*;
use crate::hashes::{key_of, view_transcript_of};
use crate::session::Session;

fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/referee/deal").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap_or_default()).unwrap()
}

/// A temporary folder of one test.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("cardarena-{name}-{}", process::id()));
        Self(path)
    }

    fn receipts(&self) -> Option<ReceiptFolder> {
        Some(ReceiptFolder::new(self.0.clone()).unwrap())
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn hashes_are_as_in_the_vectors() {
    for vector in vectors("fd2_vectors.json").as_array().unwrap() {
        let named = |field: &str| -> ByParticipant {
            let names = vector["salts"].as_object().unwrap().keys();
            names.map(|name| (name.clone(), bytes(&vector[field][name]))).collect()
        };
        let opening = Opening {
            deal: bytes(&vector["ctx"]),
            secret: bytes(&vector["S"]),
            commitments: named("commits"),
            entropies: named("r"),
            salts: named("salts"),
        };
        let transcript = opening.transcript();
        assert_eq!(transcript, bytes(&vector["T"]));
        assert_eq!(key_of(&transcript, &opening.secret, &opening.entropies), bytes(&vector["K"]));
        for (name, salt) in &opening.salts {
            let view = view_of(&opening.deal, name, salt);
            assert_eq!(view, bytes(&vector["views"][name]));
            let server = hash("server-commit", &[&view, &opening.secret]);
            assert_eq!(server, bytes(&vector["server_commits"][name]));
            let (entropy, commitment) = (&opening.entropies[name], &opening.commitments[name]);
            if !entropy.is_empty() {
                assert_eq!(commitment_of(&view, name, entropy), *commitment);
            }
            let seal = seal_of(&view, &transcript, salt);
            assert_eq!(seal, bytes(&vector["seals"][name]));
            let own = view_transcript_of(&view, &server, name, commitment, &seal);
            assert_eq!(own, bytes(&vector["view_transcripts"][name]));
        }
    }
}

#[test]
fn a_receipt_is_as_in_the_vectors() {
    let vector = vectors("receipt_vectors.json");
    let temp = TempFolder::new("receipt");
    let entropy = bytes(&vector["bot_draws"]);
    let deals = Deals::new(temp.receipts(), Box::new(move || entropy.clone()));
    let mut session = Session::new(v1::Hello::default(), true, Some(deals));
    session.stream_opened(&Arc::default());
    for text in vector["arena_says"].as_array().unwrap() {
        let raw = bytes(text);
        let message = v1::ArenaMessage::decode(&*raw).unwrap();
        session.receive(&raw, message, Instant::now());
    }
    let [file] = &temp.files()[..] else { panic!("expected one receipt") };
    let receipt: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    for (name, expected) in vector["receipt"].as_object().unwrap() {
        assert_eq!(receipt[name], *expected, "{name}");
    }
}

#[test]
fn fields_of_a_newer_arena_are_in_the_receipt() {
    let temp = TempFolder::new("newer");
    let mut deals = Deals::new(temp.receipts(), Box::new(|| vec![3; 32]));
    let open = v1::DealOpen {
        context: vec![1; 32],
        server_commitment: vec![1; 32],
        participant: "me".into(),
        ..Default::default()
    };
    committed(&mut deals, &open);
    let mut session = Session::new(v1::Hello::default(), true, Some(deals));
    session.stream_opened(&Arc::default());
    let mut receive = |raw: &[u8]| {
        let message = v1::ArenaMessage::decode(raw).unwrap();
        session.receive(raw, message, Instant::now())
    };
    let start = v1::MatchStart { r#match: 1, deal_context: vec![1; 32], ..Default::default() };
    let start = v1::arena_message::Body::MatchStart(start);
    receive(&v1::ArenaMessage { body: Some(start) }.encode_to_vec());
    // Field 4 of the JamAsk is true. Field 99 is unknown to this SDK.
    let payload = [0x20, 1, 0x9a, 6, 2, 5, 5];
    let framed = |field: u32, part: &[u8]| {
        let mut raw = Vec::new();
        prost::encoding::bytes::encode(field, &part.to_vec(), &mut raw);
        raw
    };
    let ask = v1::Ask { ask_id: 7, r#match: 1, decision: 1, ..Default::default() };
    let ask = [ask.encode_to_vec(), framed(20, &payload)].concat();
    receive(&framed(3, &framed(1, &ask)));
    let deals = session.deals.as_mut().unwrap();
    let chain = deals.chain_of(1).unwrap();
    assert_eq!(chain.last_sha256, sha256(&payload));
}

fn committed(deals: &mut Deals, open: &v1::DealOpen) -> v1::DealCommit {
    let mut reaction = deals.on_open(open.clone(), Instant::now());
    match reaction.send.pop().and_then(|message| message.body) {
        Some(Body::DealCommit(commit)) => commit,
        other => panic!("expected a commitment, got {other:?}"),
    }
}

#[test]
fn a_restarted_bot_loads_its_entropy() {
    let temp = TempFolder::new("restarted");
    let mut processes = 0;
    let mut restarted = || {
        processes += 1;
        Deals::new(temp.receipts(), Box::new(move || vec![processes; 32]))
    };
    let open = v1::DealOpen {
        context: vec![1; 32],
        server_commitment: vec![1; 32],
        participant: "me".into(),
        deadline_ms: 5000,
        ..Default::default()
    };
    let first = committed(&mut restarted(), &open);
    assert_eq!(committed(&mut restarted(), &open), first);
    let other = v1::DealOpen { participant: "../you".into(), ..open };
    assert_ne!(
        committed(&mut restarted(), &other),
        first,
        "two participants have the same entropy"
    );
    assert_eq!(temp.files().len(), 2, "a receipt is in another folder");
}

#[test]
fn a_receipt_is_read_back_as_it_was_written() {
    let temp = TempFolder::new("again");
    let receipts = temp.receipts().unwrap();
    let named = || BTreeMap::from([("me".to_owned(), vec![6; 32]), ("you".to_owned(), vec![])]);
    let deal = DealSet {
        context: vec![1; 32],
        server_commitment: vec![2; 32],
        participant: "me".into(),
        entropy: Some(vec![3; 32]),
        shown_commitment: Some(vec![4; 32]),
        seal: vec![5; 32],
        opening: Some(Opening {
            deal: vec![7; 32],
            secret: vec![8; 32],
            commitments: named(),
            entropies: named(),
            salts: named(),
        }),
        lies: vec!["one".into()],
        chains: vec![AskChain {
            match_number: 3,
            game: "jam".into(),
            seat: 1,
            match_id: "m".into(),
            hash: vec![9; 32],
            links: vec![(1, "00112233".into())],
            end_sha256: None,
            last_sha256: vec![1; 32],
        }],
        ..DealSet::default()
    };
    receipts.write(&deal).unwrap();
    assert_eq!(receipts.read(&deal.context, Some("me")), Some(deal.clone()));
    assert_eq!(receipts.read(&deal.context, None), Some(deal.clone()));
    assert_eq!(receipts.read(&deal.context, Some("you")), None);
    fs::write(&temp.files()[0], "{}").unwrap();
    assert_eq!(receipts.read(&deal.context, None), None);
}

type Change = fn(&mut DealSet, &mut Opening);

#[test]
fn lies_in_an_opening_are_found() {
    let rows: [(&str, Change, bool); 12] = [
        ("the right opening", |_, _| {}, false),
        ("a secret that does not match", |_, o| o.secret = vec![3; 32], true),
        ("another deal-set", |_, o| o.deal = vec![3; 32], true),
        ("own bytes changed", |_, o| set(&mut o.entropies, "me", 4), true),
        ("own bytes left out", |_, o| drop(o.entropies.remove("me")), true),
        ("own commitment changed", |_, o| set(&mut o.commitments, "me", 3), true),
        ("another participant's bytes changed", |_, o| set(&mut o.entropies, "you", 3), true),
        (
            "another participant's bytes and commitment changed",
            |_, o| {
                set(&mut o.entropies, "you", 3);
                let view = view_of(&o.deal, "you", &o.salts["you"]);
                o.commitments.insert("you".into(), commitment_of(&view, "you", &[3; 32]));
            },
            true,
        ),
        ("bytes of one who does not take part", |_, o| set(&mut o.entropies, "zoe", 3), true),
        ("one participant too many", |_, o| set(&mut o.commitments, "bob", 0), true),
        (
            "void: another participant's bytes missing",
            |d, o| {
                d.void_reason = "?".into();
                o.entropies.remove("you");
            },
            false,
        ),
        (
            "void: own bytes changed",
            |d, o| {
                d.void_reason = "?".into();
                set(&mut o.entropies, "me", 4);
            },
            true,
        ),
    ];
    for (why, change, lie) in rows {
        let (mut deal, mut opening) = deal_and_opening();
        change(&mut deal, &mut opening);
        assert_eq!(lie_in_opening(&deal, &opening).is_some(), lie, "{why}");
    }
}

fn set(values: &mut ByParticipant, name: &str, byte: u8) {
    values.insert(name.to_owned(), vec![byte; 32]);
}

fn deal_and_opening() -> (DealSet, Opening) {
    let mut opening = Opening { deal: vec![1; 32], secret: vec![2; 32], ..Opening::default() };
    for (name, entropy, salt) in [("me", 3, 5), ("you", 4, 6), ("zoe", 0, 7)] {
        set(&mut opening.salts, name, salt);
        let view = view_of(&opening.deal, name, &[salt; 32]);
        let (entropy, commitment) = match entropy {
            0 => (Vec::new(), NO_COMMITMENT.to_vec()),
            byte => (vec![byte; 32], commitment_of(&view, name, &[byte; 32])),
        };
        opening.entropies.insert(name.into(), entropy);
        opening.commitments.insert(name.into(), commitment);
    }
    let context = view_of(&opening.deal, "me", &[5; 32]);
    let deal = DealSet {
        server_commitment: hash("server-commit", &[&context, &opening.secret]),
        participant: "me".into(),
        entropy: Some(vec![3; 32]),
        shown_commitment: opening.commitments.get("me").cloned(),
        seal: seal_of(&context, &opening.transcript(), &[5; 32]),
        context,
        ..DealSet::default()
    };
    (deal, opening)
}
