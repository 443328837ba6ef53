//! Where a bot plays, and as whom.

use std::fmt;

/// Where to play, and as whom.
///
/// An option that is not set is read from the environment variable that its description names. A
/// program with flags of its own can include these by `#[command(flatten)]`, with the feature
/// `program`.
#[derive(Clone, Default)]
#[cfg_attr(feature = "program", derive(clap::Args))]
pub struct Options {
    /// Address of the arena: HOST:PORT, https://HOST:PORT or unix:PATH (default: $CARDARENA_ADDRESS
    /// or localhost:7654).
    #[cfg_attr(feature = "program", arg(long))]
    pub address: Option<String>,
    /// The bot's token (default: $CARDARENA_TOKEN or guest:NAME; other users of this machine can
    /// see a token on the command line).
    #[cfg_attr(feature = "program", arg(long))]
    pub token: Option<String>,
    /// Store receipts of fair deals in this folder, one folder for each bot (default:
    /// $CARDARENA_RECEIPTS).
    #[cfg_attr(feature = "program", arg(long, value_name = "FOLDER"))]
    pub receipts: Option<String>,
    /// Use TLS, as with an https:// address.
    #[cfg_attr(feature = "program", arg(long))]
    pub tls: bool,
    /// Root certificates for the arena's certificate, PEM (default: $CARDARENA_CA).
    #[cfg_attr(feature = "program", arg(long, value_name = "FILE"))]
    pub ca: Option<String>,
    /// The bot's certificate, PEM, if the arena requires one (default: $CARDARENA_CLIENT_CERT).
    #[cfg_attr(feature = "program", arg(long, value_name = "FILE"))]
    pub client_cert: Option<String>,
    /// The private key of that certificate, PEM (default: $CARDARENA_CLIENT_KEY).
    #[cfg_attr(feature = "program", arg(long, value_name = "FILE"))]
    pub client_key: Option<String>,
    /// Allow sending the token to another machine in plain text.
    #[cfg_attr(feature = "program", arg(long))]
    pub insecure: bool,
    /// Stop when the arena closes the stream in order, and after ten seconds without a connection.
    /// Also set by CARDARENA_ONCE=1.
    #[cfg_attr(feature = "program", arg(skip))]
    pub once: bool,
}

/// Hides the token.
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
