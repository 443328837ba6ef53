//! Opens connections to an arena, and to the addresses of its redirects.

use std::net::IpAddr;
use std::time::Duration;
use std::{env, fs};

use tokio::time::timeout;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::error::{Error, with_causes};
use crate::options::Options;

const TLS_SCHEME: &str = "https://";
const PLAIN_TEXT_SCHEME: &str = "http://";
const UNIX_SCHEME: &str = "unix:";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens connections. A token is sent in plain text only within this machine, unless the author
/// allows more: anyone who reads a token can play as the bot.
pub(crate) struct Dialer {
    /// None for plain text.
    tls: Option<ClientTlsConfig>,
    insecure: bool,
}

impl Dialer {
    pub fn new(address: &str, options: &Options) -> Result<Self, Error> {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let ca = options.ca.clone().or_else(|| variable("CARDARENA_CA"));
        let cert = options.client_cert.clone().or_else(|| variable("CARDARENA_CLIENT_CERT"));
        let key = options.client_key.clone().or_else(|| variable("CARDARENA_CLIENT_KEY"));
        let files =
            options.ca.is_some() || options.client_cert.is_some() || options.client_key.is_some();
        let tls = options.tls || files || address.starts_with(TLS_SCHEME);
        let tls = if tls { Some(tls_config(ca, cert, key)?) } else { None };
        let dialer = Self { tls, insecure: options.insecure };
        dialer.endpoint(address)?;
        Ok(dialer)
    }

    /// Opens a connection. The inner error is temporary.
    pub async fn dial(&self, address: &str) -> Result<Result<Channel, String>, Error> {
        let endpoint = self.endpoint(address)?;
        Ok(match timeout(CONNECT_TIMEOUT, endpoint.connect()).await {
            Ok(connected) => connected.map_err(|why| with_causes(&why)),
            Err(_) => Err(format!("no connection within {CONNECT_TIMEOUT:?}")),
        })
    }

    fn endpoint(&self, address: &str) -> Result<Endpoint, Error> {
        let uri = self.uri(address)?;
        let wrong = |why: tonic::transport::Error| {
            Error::misconfigured_by(format!("cannot connect to {address}"), why)
        };
        let mut endpoint = Endpoint::from_shared(uri).map_err(wrong)?;
        if let Some(tls) = self.tls.as_ref().filter(|_| !address.starts_with(UNIX_SCHEME)) {
            endpoint = endpoint.tls_config(tls.clone()).map_err(wrong)?;
        }
        Ok(endpoint
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true))
    }

    /// The URI to connect to.
    ///
    /// # Errors
    ///
    /// If the token would be sent unprotected, or the address needs TLS and there is none.
    fn uri(&self, address: &str) -> Result<String, Error> {
        if address.starts_with(UNIX_SCHEME) {
            return Ok(address.to_owned());
        }
        if let Some(rest) = address.strip_prefix(TLS_SCHEME) {
            if self.tls.is_none() {
                let how = format!("start the address with {TLS_SCHEME}, or add --tls");
                return Err(Error::misconfigured(format!("{address} needs TLS: {how}")));
            }
            return Ok(format!("{TLS_SCHEME}{}", rest.trim_end_matches('/')));
        }
        let host = match address.strip_prefix(PLAIN_TEXT_SCHEME) {
            Some(_) if self.tls.is_some() => {
                return Err(Error::misconfigured(format!(
                    "{address} is a plain-text address, but TLS is required"
                )));
            }
            Some(rest) => rest.trim_end_matches('/'),
            None => address,
        };
        if self.tls.is_some() {
            return Ok(format!("{TLS_SCHEME}{host}"));
        }
        if !self.insecure && !is_local(host) {
            return Err(Error::misconfigured(format!(
                "the token would be sent to {host} in plain text: use {TLS_SCHEME}{host}, or allow it with --insecure"
            )));
        }
        Ok(format!("{PLAIN_TEXT_SCHEME}{host}"))
    }
}

/// Whether the address is on this machine.
fn is_local(address: &str) -> bool {
    let host = match address.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() && !host.ends_with(':') => host,
        _ => address,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn tls_config(
    ca: Option<String>,
    cert: Option<String>,
    key: Option<String>,
) -> Result<ClientTlsConfig, Error> {
    let read = |path: &str| {
        fs::read(path).map_err(|why| Error::misconfigured_by(format!("cannot read {path}"), why))
    };
    let mut config = ClientTlsConfig::new();
    config = match ca {
        Some(path) => {
            let pem = read(&path)?;
            if !pem.windows(27).any(|part| part == b"-----BEGIN CERTIFICATE-----") {
                return Err(Error::misconfigured(format!("{path} contains no PEM certificates")));
            }
            config.ca_certificate(Certificate::from_pem(pem))
        }
        None => config.with_native_roots(),
    };
    match (cert, key) {
        (None, None) => Ok(config),
        (Some(cert), Some(key)) => {
            Ok(config.identity(Identity::from_pem(read(&cert)?, read(&key)?)))
        }
        _ => {
            let why =
                "a client certificate needs its key: give both --client-cert and --client-key";
            Err(Error::misconfigured(why))
        }
    }
}

#[cfg(test)]
mod tests;
