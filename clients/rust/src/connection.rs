//! The connection of a bot to the arena: one stream after another.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use prost::Message;
use prost::bytes::{Buf, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Request, Status, Streaming};
use tonic_types::StatusExt;
use tracing::{info, warn};

use crate::bot_runner::BotRunner;
use crate::dial::Dialer;
use crate::error::Error;
use crate::outbox::{Outbox, OutboxStream};
use crate::redial::{Redial, StreamEnd};
use crate::session::SharedSession;
use crate::v1;

const PLAY: &str = "/cardarena.v1.PlayService/Play";
/// Twice the size of an arena's largest message.
const MAX_RECEIVE_BYTES: usize = 4 << 20;
/// The maximum delay that an arena can request before the next stream.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(300);

/// The connection of a bot to the arena.
pub(crate) struct Connection {
    pub session: SharedSession,
    pub redial: Redial,
    pub dialer: Dialer,
    pub runner: BotRunner,
}

impl Connection {
    /// Opens one stream after another until play ends.
    pub async fn run(&mut self) -> Result<(), Error> {
        let mut next = self.redial.first();
        loop {
            tokio::time::sleep(next.delay).await;
            let end = self.stream(&next.endpoint).await?;
            next = match self.redial.after(&end, Instant::now())? {
                Some(next) => next,
                None => return Ok(()),
            };
            let (endpoint, why) = (&next.endpoint, end.summary());
            if end.redirect.is_some() {
                info!(endpoint, "the arena redirected the bot");
            } else if end.welcomed {
                info!(why, "the stream ended; reconnecting");
            } else {
                info!(endpoint, why, "cannot connect to the arena; retrying");
            }
        }
    }

    /// Plays on one stream until it ends. After an error no stream follows.
    async fn stream(&mut self, endpoint: &str) -> Result<StreamEnd, Error> {
        let opened = Instant::now();
        let channel = match self.dialer.dial(endpoint).await? {
            Ok(channel) => channel,
            Err(why) => return Ok(StreamEnd::new(Code::Unavailable, why)),
        };
        let mut grpc = Grpc::new(channel).max_decoding_message_size(MAX_RECEIVE_BYTES);
        if let Err(why) = grpc.ready().await {
            return Ok(StreamEnd::new(Code::Unavailable, why.to_string()));
        }
        let out = Arc::new(Outbox::default());
        self.session.lock().stream_opened(&out);
        let path = PathAndQuery::from_static(PLAY);
        let end = match grpc.streaming(Request::new(OutboxStream::of(out)), path, RawMessages).await
        {
            Ok(response) => self.read(response.into_inner()).await,
            Err(status) => Ok(end_of(&status)),
        };
        let draining = self.session.lock().stream_lost();
        end.map(|end| StreamEnd { open_for: opened.elapsed(), draining, ..end })
    }

    async fn read(&mut self, mut stream: Streaming<Bytes>) -> Result<StreamEnd, Error> {
        let mut welcomed = false;
        let mut matches_before = None;
        loop {
            let raw = match stream.message().await {
                Ok(Some(raw)) => raw,
                Ok(None) => return Ok(StreamEnd { welcomed, ..StreamEnd::new(Code::Ok, "") }),
                Err(status) => return Ok(StreamEnd { welcomed, ..end_of(&status) }),
            };
            let message = match v1::ArenaMessage::decode(&*raw) {
                Ok(message) => message,
                Err(why) => {
                    let why = format!("cannot decode a message: {why}");
                    return Ok(StreamEnd { welcomed, ..StreamEnd::new(Code::Internal, why) });
                }
            };
            let (received, tasks, matches) = {
                let mut session = self.session.lock();
                let received = session.receive(&raw, message, Instant::now());
                (received, session.take_tasks(), session.match_count())
            };
            self.runner.submit(tasks);
            for line in received.warnings {
                warn!("{line}");
            }
            if let Some(why) = received.refused {
                return Err(Error::Refused(why));
            }
            welcomed |= received.welcomed;
            if received.redirect.is_some() {
                let end = StreamEnd::new(Code::Ok, "");
                return Ok(StreamEnd { welcomed, redirect: received.redirect, ..end });
            }
            if received.welcomed {
                info!(matches, "connected to the arena");
            } else if matches_before.is_some_and(|before| before > 0) && matches == 0 {
                info!("waiting for a match");
            } else if matches_before.is_some_and(|before| before < matches) {
                let game = self.session.lock().newest_game();
                info!(matches, game, "playing");
            }
            matches_before = Some(matches);
        }
    }
}

/// How a stream ended, read from its status.
fn end_of(status: &Status) -> StreamEnd {
    if status.source().is_some() {
        // tonic made this status from a broken connection. Its code is not the arena's.
        return StreamEnd::new(Code::Unavailable, status.message());
    }
    let retry_delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
    StreamEnd {
        reason: status.get_details_error_info().map(|info| info.reason).unwrap_or_default(),
        retry_delay: retry_delay.unwrap_or_default().min(MAX_RETRY_DELAY),
        ..StreamEnd::new(status.code(), status.message())
    }
}

/// Leaves the arena's messages encoded, because receipts hash their bytes.
#[derive(Clone, Copy)]
struct RawMessages;

impl Codec for RawMessages {
    type Encode = v1::BotMessage;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawMessages {
    type Item = v1::BotMessage;
    type Error = Status;

    fn encode(&mut self, item: v1::BotMessage, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(to).map_err(|why| Status::internal(why.to_string()))
    }
}

impl Decoder for RawMessages {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[cfg(test)]
mod tests;
