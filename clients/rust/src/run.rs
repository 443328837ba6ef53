//! Plays within a program.

use std::env;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};

use crate::bot::Player;
use crate::bot_runner::BotRunner;
use crate::connection::Connection;
use crate::deals::Deals;
use crate::dial::Dialer;
use crate::error::Error;
use crate::families::ALL;
use crate::hashes::HASH_BYTES;
use crate::options::Options;
use crate::receipts::ReceiptFolder;
use crate::redial::Redial;
use crate::session::{CONTRACT, Session, SharedSession};
use crate::v1;

/// The version of this SDK.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const DEFAULT_ADDRESS: &str = "localhost:7654";
const GUEST: &str = "guest:";

/// Plays until the arena ends play.
///
/// Dropping the future closes the connection. Bots that are choosing a move run on, and their
/// answers are dropped.
///
/// # Errors
///
/// Returns an [`Error`] if the arena refuses the bot, cannot be reached or lied about its deals, or
/// if the options are wrong.
///
/// # Panics
///
/// Outside a tokio runtime with I/O and time enabled.
///
/// # Examples
///
/// ```no_run
/// use cardarena::jam::Jam;
/// use cardarena::{Ask, Choice, Error, Options, Player};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Error> {
///     let first = Player::new("first", |_| |_: &Ask<Jam>| Ok(Choice::index(0)));
///     let options = Options { address: Some("localhost:7654".into()), ..Options::default() };
///     cardarena::play(first, options).await
/// }
/// ```
pub async fn play(player: Player, options: Options) -> Result<(), Error> {
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let address = options.address.clone().or_else(|| variable("CARDARENA_ADDRESS"));
    let address = address.unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
    let token = options.token.clone().or_else(|| variable("CARDARENA_TOKEN"));
    let token = token.unwrap_or_else(|| format!("{GUEST}{}", player.name));
    let once = options.once || variable("CARDARENA_ONCE").as_deref() == Some("1");
    let hello = hello_of(&player, token)?;
    let dialer = Dialer::new(&address, &options)?;
    let receipts = options.receipts.clone().or_else(|| variable("CARDARENA_RECEIPTS"));
    let deals = if player.adds_entropy {
        let folder = receipts.map(|path| {
            ReceiptFolder::new(path.clone().into()).map_err(|why| {
                Error::misconfigured_by(format!("cannot store receipts in {path}"), why)
            })
        });
        Some(Deals::new(folder.transpose()?, Box::new(random::<HASH_BYTES>)))
    } else {
        None
    };
    let session = SharedSession::new(Session::new(hello, player.ask_forced, deals));
    let mut connection = Connection {
        runner: BotRunner::new(session.clone(), player.bots),
        session: session.clone(),
        redial: Redial::new(address, once, Box::new(jitter), Instant::now()),
        dialer,
    };
    let played = connection.run().await;
    session.lock().finish();
    let threads = connection.runner.close();
    let joined = tokio::task::spawn_blocking(move || {
        for thread in threads {
            let _ = thread.join(); // a panic was logged
        }
    });
    let _ = joined.await;
    let lies = session.lock().deals.as_ref().map(|deals| deals.lies.clone()).unwrap_or_default();
    if lies.is_empty() {
        return played;
    }
    Err(Error::Lied { lies, other: played.err().map(Box::new) })
}

fn hello_of(player: &Player, mut token: String) -> Result<v1::Hello, Error> {
    if let Some(unknown) = player.games.iter().find(|game| !ALL.contains(&game.as_str())) {
        let known = ALL.join(", ");
        return Err(Error::Refused(format!(
            "this version of the SDK does not support the game {unknown:?}: it supports {known}"
        )));
    }
    // A random suffix, so that another guest of the same name cannot take over the matches.
    if token.starts_with(GUEST) && token.matches(':').count() == 1 {
        token = format!("{token}:{}", hex::encode(random::<16>()));
    }
    let support =
        |game: &String| v1::GameSupport { game: game.clone(), rules_version: 0, seats: Vec::new() };
    Ok(v1::Hello {
        token,
        sdk: format!("cardarena-rust/{VERSION}"),
        games: player.games.iter().map(support).collect(),
        max_matches: Some(player.max_matches),
        max_open_asks: player.max_open_asks,
        want_text: player.want_text,
        contract: CONTRACT,
        capabilities: vec![v1::Capability::Redirect.into()],
        adds_entropy: player.adds_entropy,
        version: player.version.clone(),
        publish_notes: false,
    })
}

fn random<const BYTES: usize>() -> Vec<u8> {
    let mut drawn = vec![0; BYTES];
    SystemRandom::new().fill(&mut drawn).expect("the system has a random number generator");
    drawn
}

fn jitter(max: Duration) -> Duration {
    let drawn = random::<4>().iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
    max.mul_f64(f64::from(drawn) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
