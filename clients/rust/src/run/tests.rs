//! The hello message, errors and options.

use std::io;

use super::*;
use crate::bot::{BotError, Choice};
use crate::{AnyGame, Ask};

fn player() -> Player {
    let bot = |_: &Ask<AnyGame>| -> Result<Choice<AnyGame>, BotError> { Ok(Choice::index(0)) };
    Player::new("ann", move |_| bot)
}

#[test]
fn a_guest_gets_a_random_suffix() {
    let token = |given: &str| hello_of(&player(), given.to_owned()).unwrap().token;
    let one = token("guest:ann");
    assert_eq!(one.len(), "guest:ann:".len() + 32);
    assert_ne!(one, token("guest:ann"));
    assert_eq!(token("guest:ann:mine"), "guest:ann:mine");
    assert_eq!(token("a-key"), "a-key");
}

#[test]
fn an_unsupported_game_is_refused() {
    assert_eq!(hello_of(&player(), String::new()).unwrap().games.len(), 19);
    let hello = hello_of(&player().games(["whist"]), String::new());
    assert!(matches!(hello, Err(Error::Refused(why)) if why.contains("\"whist\"")));
}

#[test]
fn play_is_send() {
    fn assert_send<T: Send + 'static>(_: &T) {}
    assert_send(&play(player(), Options::default()));
    assert_send(&Error::misconfigured(""));
}

#[test]
fn an_error_has_its_cause_and_options_hide_their_token() {
    let missing = Options { ca: Some("/no/such/file".into()), tls: true, ..Options::default() };
    let why = Dialer::new("https://here:1", &missing).err().unwrap();
    let cause = std::error::Error::source(&why).and_then(|cause| cause.downcast_ref::<io::Error>());
    assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::NotFound));
    let options = Options { token: Some("secret".into()), ..Options::default() };
    assert!(!format!("{options:?}").contains("secret"));
}

#[test]
fn exit_codes_are_the_same_as_in_other_sdks() {
    let lied = Error::Lied { lies: vec!["once".into()], other: None };
    let codes = [Error::Unreachable(String::new()), Error::Refused(String::new()), lied];
    assert_eq!(codes.map(|why| why.exit_code()), [1, 2, 3]);
    assert_eq!(Error::misconfigured("").exit_code(), 2);
}

#[test]
fn jitter_is_full() {
    let max = Duration::from_secs(8);
    let drawn: Vec<_> = (0..200).map(|_| jitter(max)).collect();
    assert!(drawn.iter().all(|wait| *wait <= max));
    assert!(
        drawn.iter().any(|wait| *wait < max / 4) && drawn.iter().any(|wait| *wait > max / 4 * 3)
    );
}
