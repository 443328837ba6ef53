//! Playing, as a program and within one.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fmt, io};

use clap::{Args, Parser};
use ring::rand::{SecureRandom, SystemRandom};
use tracing::error;

use crate::bot::Player;
use crate::connection::{Connection, lock};
use crate::deals::Deals;
use crate::dial::Dialer;
use crate::error::{Error, with_causes};
use crate::families::ALL;
use crate::hashes::HASH_BYTES;
use crate::play::Desk;
use crate::receipts::Folder;
use crate::redial::Redial;
use crate::session::{CONTRACT, Session};
use crate::v1;

/// The SDK's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const DEFAULT_ADDRESS: &str = "localhost:7654";
const GUEST: &str = "guest:";
/// The exit code of a program that got SIGINT.
const INTERRUPTED: u8 = 130;

/// Where to play and as whom.
///
/// What is not given is taken from the environment, by the variable that
/// the field names. A program with flags of its own has these among them by `#[command(flatten)]`.
#[derive(Args, Clone, Default)]
pub struct Options {
    /// The arena: HOST:PORT, https://HOST:PORT or unix:PATH (else $CARDARENA_ADDRESS, else
    /// localhost:7654).
    #[arg(long)]
    pub address: Option<String>,
    /// Who the bot is (else $CARDARENA_TOKEN, which others cannot see, else guest: and its name).
    #[arg(long)]
    pub token: Option<String>,
    /// Keep what proves the deals in this folder of the bot's own (else $CARDARENA_RECEIPTS).
    #[arg(long, value_name = "FOLDER")]
    pub receipts: Option<String>,
    /// Use TLS, as with https://.
    #[arg(long)]
    pub tls: bool,
    /// The certificates that sign the arena's, in PEM (else $CARDARENA_CA).
    #[arg(long, value_name = "FILE")]
    pub ca: Option<String>,
    /// The bot's own certificate in PEM, if the arena wants one (else $CARDARENA_CLIENT_CERT).
    #[arg(long, value_name = "FILE")]
    pub client_cert: Option<String>,
    /// Its private key in PEM (else $CARDARENA_CLIENT_KEY).
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<String>,
    /// Let the token leave this machine in plain text.
    #[arg(long)]
    pub insecure: bool,
    /// Ends when the arena ends its stream in order, and gives up after ten seconds without an
    /// arena; also if $CARDARENA_ONCE is 1.
    #[arg(skip)]
    pub once: bool,
}

/// It says whether there is a token, and not which.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, token, receipts, tls, ca, client_cert, client_key, insecure, once } =
            self;
        f.debug_struct("Options")
            .field("address", address)
            .field("token", &token.as_ref().map(|_| "…"))
            .field("receipts", receipts)
            .field("tls", tls)
            .field("ca", ca)
            .field("client_cert", client_cert)
            .field("client_key", client_key)
            .field("insecure", insecure)
            .field("once", once)
            .finish()
    }
}

/// A bot for Card Arena.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

/// Plays as a program: reads the command line, logs to stderr, and gives the exit code: 0 sent home,
/// 1 no arena, 2 refused, 3 lied to, 130 interrupted. A wrong flag, and `--help`, end the program.
///
/// It has a tokio runtime of its own, and panics within another one.
pub fn run(player: Player) -> ExitCode {
    run_with(player, Flags::parse().options)
}

/// The same for a program that has flags of its own: [`run`] with the options that it was given.
pub fn run_with(player: Player, options: Options) -> ExitCode {
    // It fails where the program logs in a way of its own already.
    let _ = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false).try_init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(why) => {
            error!("no event loop: {why}");
            return ExitCode::from(1);
        }
    };
    let code = runtime.block_on(async {
        tokio::select! {
            played = play(player, options) => match played {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    if let Error::Lied { besides: Some(besides), .. } = &why {
                        error!("{}", with_causes(besides));
                        error!("{why}");
                    } else {
                        error!("{}", with_causes(&why));
                    }
                    ExitCode::from(why.exit_code())
                }
            },
            _ = tokio::signal::ctrl_c() => ExitCode::from(INTERRUPTED),
        }
    });
    runtime.shutdown_background(); // nobody waits for a bot that thinks, if it was interrupted
    code
}

/// Plays until the arena sends the bot home. Who drops the future hangs up; a bot that thinks then
/// thinks to its end, and nobody hears it.
///
/// # Errors
///
/// If the arena will not have the bot, cannot be reached, or was caught at lies, or the bot was told
/// wrongly how to connect: [`Error`] says which.
///
/// # Panics
///
/// Outside of a tokio runtime that has I/O and time.
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
            Folder::new(path.clone().into()).map_err(|why| {
                Error::misconfigured_by(format!("receipts cannot be kept in {path}"), why)
            })
        });
        Some(Deals::new(folder.transpose()?, Box::new(random::<HASH_BYTES>)))
    } else {
        None
    };
    let session = Arc::new(Mutex::new(Session::new(hello, player.ask_forced, deals)));
    let mut connection = Connection {
        desk: Desk::new(session.clone(), player.author),
        session: session.clone(),
        redial: Redial::new(address, once, Box::new(jitter), Instant::now()),
        dialer,
    };
    let played = connection.run().await;
    lock(&session).finish();
    let threads = connection.desk.close();
    let waited = tokio::task::spawn_blocking(move || {
        for thread in threads {
            let _ = thread.join(); // what it panics with was told
        }
    });
    let _ = waited.await;
    let lies = lock(&session).deals.as_ref().map(|deals| deals.lies.clone()).unwrap_or_default();
    if lies.is_empty() {
        return played;
    }
    Err(Error::Lied { lies, besides: played.err().map(Box::new) })
}

fn hello_of(player: &Player, mut token: String) -> Result<v1::Hello, Error> {
    if let Some(unknown) = player.games.iter().find(|game| !ALL.contains(&game.as_str())) {
        let known = ALL.join(", ");
        return Err(Error::Refused(format!(
            "this version of the SDK knows no game {unknown:?}: it knows {known}"
        )));
    }
    // A secret of this run, so that nobody else takes a guest's seats meanwhile.
    if token.starts_with(GUEST) && token.matches(':').count() == 1 {
        token = format!("{token}:{}", hex::encode(random::<16>()));
    }
    let support =
        |game: &String| v1::GameSupport { game: game.clone(), rules_version: 0, seats: Vec::new() };
    Ok(v1::Hello {
        token,
        sdk: format!("cardarena-rust/{VERSION}"),
        games: player.games.iter().map(support).collect(),
        max_matches: player.max_matches,
        max_open_asks: player.max_open_asks,
        want_text: player.want_text,
        contract: CONTRACT,
        capabilities: vec![v1::Capability::Redirect.into()],
        adds_entropy: player.adds_entropy,
        version: player.version.clone(),
    })
}

fn random<const BYTES: usize>() -> Vec<u8> {
    let mut drawn = vec![0; BYTES];
    SystemRandom::new().fill(&mut drawn).expect("the system has chance to give");
    drawn
}

fn jitter(most: Duration) -> Duration {
    let drawn = random::<4>().iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
    most.mul_f64(f64::from(drawn) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
