//! The vectors are those of the arena's own tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, process};

use prost::Message;
use serde_json::Value;

use super::*;
use crate::session::Session;

fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/deal").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap_or_default()).unwrap()
}

/// A folder of a test's own, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("cardarena-{name}-{}", process::id()));
        Self(path)
    }

    fn folder(&self) -> Option<Folder> {
        Some(Folder::new(self.0.clone()).unwrap())
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn hashes_are_those_of_the_vectors() {
    for vector in vectors("fd2_vectors.json").as_array().unwrap() {
        let named = |field: &str| -> Named {
            let names = vector["salts"].as_object().unwrap().keys();
            names.map(|name| (name.clone(), bytes(&vector[field][name]))).collect()
        };
        let opened = Opening {
            deal: bytes(&vector["ctx"]),
            secret: bytes(&vector["S"]),
            commitments: named("commits"),
            entropies: named("r"),
            salts: named("salts"),
        };
        let transcript = opened.transcript();
        assert_eq!(transcript, bytes(&vector["T"]));
        assert_eq!(key_of(&transcript, &opened.secret, &opened.entropies), bytes(&vector["K"]));
        for (name, salt) in &opened.salts {
            let view = view_of(&opened.deal, name, salt);
            assert_eq!(view, bytes(&vector["views"][name]));
            let server = hash("server-commit", &[&view, &opened.secret]);
            assert_eq!(server, bytes(&vector["server_commits"][name]));
            let (entropy, commitment) = (&opened.entropies[name], &opened.commitments[name]);
            if !entropy.is_empty() {
                assert_eq!(commitment_of(&view, name, entropy), *commitment);
            }
            let seal = seal_of(&view, &transcript, salt);
            assert_eq!(seal, bytes(&vector["seals"][name]));
            let own = shown_of(&view, &server, name, commitment, &seal);
            assert_eq!(own, bytes(&vector["view_transcripts"][name]));
        }
    }
}

#[test]
fn a_receipt_is_that_of_the_vectors() {
    let vector = vectors("receipt_vectors.json");
    let scratch = Scratch::new("receipt");
    let drawn = bytes(&vector["bot_draws"]);
    let deals = Deals::new(scratch.folder(), Box::new(move || drawn.clone()));
    let mut session = Session::new(v1::Hello::default(), true, Some(deals));
    session.opened(&Arc::default());
    for text in vector["arena_says"].as_array().unwrap() {
        let raw = bytes(text);
        let message = v1::ArenaMessage::decode(&*raw).unwrap();
        session.receive(&raw, message, Instant::now());
    }
    let [file] = &scratch.files()[..] else { panic!("there is one receipt") };
    let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    for (name, wanted) in vector["receipt"].as_object().unwrap() {
        assert_eq!(kept[name], *wanted, "{name}");
    }
}

#[test]
fn what_a_newer_arena_says_more_is_in_the_receipt() {
    let scratch = Scratch::new("newer");
    let mut deals = Deals::new(scratch.folder(), Box::new(|| vec![3; 32]));
    let open = v1::DealOpen {
        context: vec![1; 32],
        server_commitment: vec![1; 32],
        participant: "me".into(),
        ..Default::default()
    };
    committed(&mut deals, &open);
    let mut session = Session::new(v1::Hello::default(), true, Some(deals));
    session.opened(&Arc::default());
    let mut says = |raw: &[u8]| {
        let message = v1::ArenaMessage::decode(raw).unwrap();
        session.receive(raw, message, Instant::now())
    };
    let start = v1::MatchStart { r#match: 1, deal_context: vec![1; 32], ..Default::default() };
    let start = v1::arena_message::Body::MatchStart(start);
    says(&v1::ArenaMessage { body: Some(start) }.encode_to_vec());
    // Field 4 of the JamAsk is true, and it has a field 99, which nobody knows.
    let payload = [0x20, 1, 0x9a, 6, 2, 5, 5];
    let framed = |field: u32, part: &[u8]| {
        let mut raw = Vec::new();
        prost::encoding::bytes::encode(field, &part.to_vec(), &mut raw);
        raw
    };
    let ask = v1::Ask { ask_id: 7, r#match: 1, decision: 1, ..Default::default() };
    let ask = [ask.encode_to_vec(), framed(20, &payload)].concat();
    says(&framed(3, &framed(1, &ask)));
    let deals = session.deals.as_mut().unwrap();
    let was = deals.shown_in(1).unwrap();
    assert_eq!(was.last, sha256(&payload));
}

fn committed(deals: &mut Deals, open: &v1::DealOpen) -> v1::DealCommit {
    let mut reaction = deals.on_open(open.clone(), Instant::now());
    match reaction.send.pop().and_then(|message| message.body) {
        Some(Body::DealCommit(commit)) => commit,
        other => panic!("no commitment, but {other:?}"),
    }
}

#[test]
fn a_bot_that_was_restarted_finds_its_entropy() {
    let scratch = Scratch::new("restarted");
    let mut counted = 0;
    let mut anew = || {
        counted += 1;
        Deals::new(scratch.folder(), Box::new(move || vec![counted; 32]))
    };
    let open = v1::DealOpen {
        context: vec![1; 32],
        server_commitment: vec![1; 32],
        participant: "me".into(),
        deadline_ms: 5000,
        ..Default::default()
    };
    let first = committed(&mut anew(), &open);
    assert_eq!(committed(&mut anew(), &open), first);
    let other = v1::DealOpen { participant: "../you".into(), ..open };
    assert_ne!(committed(&mut anew(), &other), first, "two participants have one entropy");
    assert_eq!(scratch.files().len(), 2, "a receipt is filed elsewhere");
}

#[test]
fn a_receipt_says_again_what_it_kept() {
    let scratch = Scratch::new("again");
    let folder = scratch.folder().unwrap();
    let named = || BTreeMap::from([("me".to_owned(), vec![6; 32]), ("you".to_owned(), vec![])]);
    let own = Deal {
        context: vec![1; 32],
        server_commitment: vec![2; 32],
        participant: "me".into(),
        entropy: Some(vec![3; 32]),
        shown: Some(vec![4; 32]),
        seal: vec![5; 32],
        opened: Some(Opening {
            deal: vec![7; 32],
            secret: vec![8; 32],
            commitments: named(),
            entropies: named(),
            salts: named(),
        }),
        lies: vec!["one".into()],
        matches: vec![Shown {
            number: 3,
            game: "jam".into(),
            seat: 1,
            match_id: "m".into(),
            chain: vec![9; 32],
            asks: vec![(1, "00112233".into())],
            end: None,
            last: vec![1; 32],
        }],
        ..Deal::default()
    };
    folder.keep(&own).unwrap();
    assert_eq!(folder.recall(&own.context, Some("me")), Some(own.clone()));
    assert_eq!(folder.recall(&own.context, None), Some(own.clone()));
    assert_eq!(folder.recall(&own.context, Some("you")), None);
    fs::write(&scratch.files()[0], "{}").unwrap();
    assert_eq!(folder.recall(&own.context, None), None);
}

type Change = fn(&mut Deal, &mut Opening);

#[test]
fn what_is_wrong_with_an_opening() {
    let rows: [(&str, Change, bool); 12] = [
        ("as it should be", |_, _| {}, false),
        ("a secret that is none", |_, o| o.secret = vec![3; 32], true),
        ("another deal-set", |_, o| o.deal = vec![3; 32], true),
        ("own bytes changed", |_, o| set(&mut o.entropies, "me", 4), true),
        ("own bytes left out", |_, o| drop(o.entropies.remove("me")), true),
        ("own commitment changed", |_, o| set(&mut o.commitments, "me", 3), true),
        ("another's bytes changed", |_, o| set(&mut o.entropies, "you", 3), true),
        (
            "another's bytes and commitment changed",
            |_, o| {
                set(&mut o.entropies, "you", 3);
                let view = view_of(&o.deal, "you", &o.salts["you"]);
                o.commitments.insert("you".into(), commitment_of(&view, "you", &[3; 32]));
            },
            true,
        ),
        ("a stranger's bytes", |_, o| set(&mut o.entropies, "zoe", 3), true),
        ("a participant more", |_, o| set(&mut o.commitments, "bob", 0), true),
        (
            "void: another's bytes missing",
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
    for (why, change, wrong) in rows {
        let (mut own, mut opened) = deal_and_opening();
        change(&mut own, &mut opened);
        assert_eq!(wrong_opening(&own, &opened).is_some(), wrong, "{why}");
    }
}

fn set(values: &mut Named, name: &str, byte: u8) {
    values.insert(name.to_owned(), vec![byte; 32]);
}

fn deal_and_opening() -> (Deal, Opening) {
    let mut opened = Opening { deal: vec![1; 32], secret: vec![2; 32], ..Opening::default() };
    for (name, entropy, salt) in [("me", 3, 5), ("you", 4, 6), ("zoe", 0, 7)] {
        set(&mut opened.salts, name, salt);
        let view = view_of(&opened.deal, name, &[salt; 32]);
        let (entropy, commitment) = match entropy {
            0 => (Vec::new(), NO_COMMITMENT.to_vec()),
            byte => (vec![byte; 32], commitment_of(&view, name, &[byte; 32])),
        };
        opened.entropies.insert(name.into(), entropy);
        opened.commitments.insert(name.into(), commitment);
    }
    let context = view_of(&opened.deal, "me", &[5; 32]);
    let own = Deal {
        server_commitment: hash("server-commit", &[&context, &opened.secret]),
        participant: "me".into(),
        entropy: Some(vec![3; 32]),
        shown: opened.commitments.get("me").cloned(),
        seal: seal_of(&context, &opened.transcript(), &[5; 32]),
        context,
        ..Deal::default()
    };
    (own, opened)
}
