//! A bot's connection with the arena, over as many streams as it takes.

use std::error::Error as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use prost::Message;
use prost::bytes::{Buf, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Request, Status, Streaming};
use tonic_types::StatusExt;
use tracing::{info, warn};

use crate::Error;
use crate::dial::Dialer;
use crate::outbox::{Outbox, Outgoing};
use crate::play::Desk;
use crate::redial::{Redial, StreamEnd};
use crate::session::Session;
use crate::v1;

const PLAY: &str = "/cardarena.v1.PlayService/Play";
/// Twice what an arena sends at most.
const MAX_RECEIVE_BYTES: usize = 4 << 20;
/// A longer time that an arena asks for is taken as this.
const MAX_RETRY: Duration = Duration::from_secs(300);

/// The session, which the connection and the threads of authors share.
pub(crate) type Shared = Arc<Mutex<Session>>;

pub(crate) fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().expect("nobody panics with it")
}

pub(crate) struct Connection {
    pub session: Shared,
    pub redial: Redial,
    pub dialer: Dialer,
    pub desk: Desk,
}

impl Connection {
    /// Opens stream after stream until play is over.
    pub async fn run(&mut self) -> Result<(), Error> {
        let mut next = self.redial.first();
        loop {
            tokio::time::sleep(next.delay).await;
            let end = self.stream(&next.endpoint).await?;
            next = match self.redial.after(&end, Instant::now())? {
                Some(next) => next,
                None => return Ok(()),
            };
            let (endpoint, why) = (&next.endpoint, end.short());
            if end.redirect.is_some() {
                info!(endpoint, "redirected");
            } else if end.welcomed {
                info!(why, "the stream ended; connecting again");
            } else {
                info!(endpoint, why, "no arena yet; trying again");
            }
        }
    }

    /// Plays on one stream until it ends. An error is one after which there is no other.
    async fn stream(&mut self, endpoint: &str) -> Result<StreamEnd, Error> {
        let began = Instant::now();
        let channel = match self.dialer.dial(endpoint).await? {
            Ok(channel) => channel,
            Err(why) => return Ok(StreamEnd::new(Code::Unavailable, why)),
        };
        let mut grpc = Grpc::new(channel).max_decoding_message_size(MAX_RECEIVE_BYTES);
        if let Err(why) = grpc.ready().await {
            return Ok(StreamEnd::new(Code::Unavailable, why.to_string()));
        }
        let out = Arc::new(Outbox::default());
        lock(&self.session).opened(&out);
        let path = PathAndQuery::from_static(PLAY);
        let end = match grpc.streaming(Request::new(Outgoing::of(out)), path, Frames).await {
            Ok(response) => self.read(response.into_inner()).await,
            Err(status) => Ok(end_of(&status)),
        };
        let draining = lock(&self.session).lost();
        end.map(|end| StreamEnd { lived: began.elapsed(), draining, ..end })
    }

    async fn read(&mut self, mut stream: Streaming<Bytes>) -> Result<StreamEnd, Error> {
        let mut welcomed = false;
        let mut playing = None;
        loop {
            let raw = match stream.message().await {
                Ok(Some(raw)) => raw,
                Ok(None) => return Ok(StreamEnd { welcomed, ..StreamEnd::new(Code::Ok, "") }),
                Err(status) => return Ok(StreamEnd { welcomed, ..end_of(&status) }),
            };
            let message = match v1::ArenaMessage::decode(&*raw) {
                Ok(message) => message,
                Err(why) => {
                    let why = format!("a message cannot be read: {why}");
                    return Ok(StreamEnd { welcomed, ..StreamEnd::new(Code::Internal, why) });
                }
            };
            let (received, work, matches) = {
                let mut session = lock(&self.session);
                let received = session.receive(&raw, message, Instant::now());
                (received, session.take_work(), session.playing())
            };
            self.desk.hand_on(work);
            for line in received.say {
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
                info!(matches, "welcome to the arena");
            } else if playing.is_some_and(|before| before > 0) && matches == 0 {
                info!("waiting for a match");
            } else if playing.is_some_and(|before| before < matches) {
                let game = lock(&self.session).newest_game();
                info!(matches, game, "playing");
            }
            playing = Some(matches);
        }
    }
}

/// How a stream ended, by its status.
fn end_of(status: &Status) -> StreamEnd {
    if status.source().is_some() {
        // Made here of a connection that broke: what HTTP/2 says of that is no word of the arena.
        return StreamEnd::new(Code::Unavailable, status.message());
    }
    let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
    StreamEnd {
        reason: status.get_details_error_info().map(|info| info.reason).unwrap_or_default(),
        retry: retry.unwrap_or_default().min(MAX_RETRY),
        ..StreamEnd::new(status.code(), status.message())
    }
}

/// Messages of the arena stay bytes, as receipts hash these.
#[derive(Clone, Copy)]
struct Frames;

impl Codec for Frames {
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

impl Encoder for Frames {
    type Item = v1::BotMessage;
    type Error = Status;

    fn encode(&mut self, item: v1::BotMessage, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(to).map_err(|why| Status::internal(why.to_string()))
    }
}

impl Decoder for Frames {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[cfg(test)]
mod tests;
