//! What a bot receives: matches, asks and ends of matches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use ring::hmac;

use crate::ask_body::{event_count, move_count, moves_complete};
use crate::game::Game;
use crate::hashes::HASH_BYTES;
use crate::v1;

/// For matches of arenas that send no dice.
static OWN_DICE: LazyLock<u128> = LazyLock::new(|| fastrand::u128(..));

const MINUTE_MS: u32 = 60_000;

/// A match, as the arena announced it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The arena's message.
    pub start: v1::MatchStart,
}

impl Match {
    /// The number by which the arena identifies this bot's seat at the match.
    pub fn number(&self) -> u32 {
        self.start.r#match
    }

    /// The game's id, such as `jam`.
    pub fn game(&self) -> &str {
        self.start.terms.as_ref().map_or("", |terms| &terms.game)
    }

    /// The bot's seat, from 0.
    pub fn seat(&self) -> usize {
        self.start.seat as usize
    }

    /// The value of a game option. None if the game has no option of that name.
    pub fn option(&self, name: &str) -> Option<&v1::setting::Value> {
        let options = &self.start.terms.as_ref()?.options;
        options.iter().find(|setting| setting.name == name)?.value.as_ref()
    }
}

/// An ask before it has the types of its game.
#[derive(Debug)]
pub(crate) struct UntypedAsk {
    pub message: v1::Ask,
    pub game_match: Arc<Match>,
    /// Earlier asks of the match that the bot did not receive, oldest first.
    pub undelivered: Vec<Arc<UntypedAsk>>,
    due: Instant,
    open: AtomicBool,
}

impl UntypedAsk {
    /// None if this SDK does not know the ask's game.
    pub fn new(
        message: v1::Ask,
        game_match: Arc<Match>,
        undelivered: Vec<Arc<UntypedAsk>>,
        now: Instant,
    ) -> Option<Self> {
        message.game.as_ref()?;
        let clock = message.clock.unwrap_or_default();
        let budget_ms = u64::from(clock.move_ms) + u64::from(clock.bank_ms);
        let due = now + Duration::from_millis(budget_ms);
        Some(Self { message, game_match, undelivered, due, open: AtomicBool::new(true) })
    }

    pub fn id(&self) -> u64 {
        self.message.ask_id
    }

    pub fn body(&self) -> &v1::ask::Game {
        self.message.game.as_ref().expect("`new` checked it")
    }

    /// Whether there is only one legal move.
    pub fn forced(&self) -> bool {
        move_count(self.body()) == 1 && moves_complete(self.body())
    }

    pub fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::Relaxed);
    }

    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    fn with_undelivered(&self) -> impl Iterator<Item = &UntypedAsk> {
        self.undelivered.iter().map(AsRef::as_ref).chain([self])
    }
}

/// One decision of a seat, with everything that the seat can see.
#[derive(Debug)]
pub struct Ask<G: Game> {
    /// What the seat sees now.
    pub view: G::View,
    /// Legal moves, at least one. If [`Ask::moves_complete`], these are all legal moves.
    pub moves: Vec<G::Move>,
    /// What happened since the bot last received an ask of this match, oldest first. This includes
    /// the events of asks that the bot did not receive.
    pub events: Vec<G::Event>,
    /// The match of the ask.
    pub game_match: Arc<Match>,
    pub(crate) untyped: Arc<UntypedAsk>,
}

impl<G: Game> Ask<G> {
    /// An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
    ///
    /// To test the bot with other terms, change `events` or `game_match`, or make the ask of a
    /// message.
    ///
    /// ```
    /// use cardarena::Bot;
    /// use cardarena::jam::{Ask, Jam, Move, View};
    ///
    /// let mut last = |ask: &Ask| Ok(ask.moves.last().unwrap().into());
    /// let ask = Ask::new(View::default(), vec![Move::play("2c"), Move::play("As")]);
    /// let choice = Bot::<Jam>::choose(&mut last, &ask).unwrap();
    /// assert_eq!(ask.chosen(choice).unwrap(), Move::play("As"));
    /// ```
    ///
    /// # Panics
    ///
    /// If the moves are of another game than the view, which only [`AnyGame`](crate::AnyGame) allows.
    pub fn new(view: G::View, moves: Vec<G::Move>) -> Self {
        let terms = Some(v1::MatchTerms { game: G::GAMES[0].to_owned(), ..Default::default() });
        let game_match = Match { start: v1::MatchStart { terms, ..Default::default() } };
        let clock = Some(v1::Clock { move_ms: MINUTE_MS, ..Default::default() });
        let game = Some(G::ask(view, moves));
        let message = v1::Ask { clock, game, ..Default::default() };
        Self::of_message(game_match, message).expect("the ask is of the game")
    }

    /// An ask for the test of a bot, as if the message arrived now. None if it is of another game.
    pub fn of_message(game_match: Match, message: v1::Ask) -> Option<Self> {
        let now = Instant::now();
        Self::of(&Arc::new(UntypedAsk::new(message, Arc::new(game_match), Vec::new(), now)?))
    }

    /// None if the ask is of another game.
    pub(crate) fn of(untyped: &Arc<UntypedAsk>) -> Option<Self> {
        Some(Self {
            view: G::view(untyped.body())?,
            moves: G::moves(untyped.body()),
            events: untyped.with_undelivered().flat_map(|ask| G::events(ask.body())).collect(),
            game_match: untyped.game_match.clone(),
            untyped: untyped.clone(),
        })
    }

    /// The number by which the arena identifies this ask.
    pub fn id(&self) -> u64 {
        self.untyped.id()
    }

    /// The arena's message.
    pub fn message(&self) -> &v1::Ask {
        &self.untyped.message
    }

    /// Whether the offered moves are all legal moves.
    pub fn moves_complete(&self) -> bool {
        moves_complete(self.untyped.body())
    }

    /// The moves in notation, if the player requested text.
    pub fn move_texts(&self) -> &[String] {
        &self.untyped.message.move_texts
    }

    /// The events in notation, if the player requested text.
    pub fn event_texts(&self) -> Vec<&str> {
        let texts = self.untyped.with_undelivered().flat_map(|ask| &ask.message.event_texts);
        texts.map(String::as_str).collect()
    }

    /// The moves among the events that the arena played in place of a bot at fault.
    pub fn played_for(&self) -> Vec<v1::PlayedFor> {
        let mut all = Vec::new();
        let mut events_before = 0;
        for ask in self.untyped.with_undelivered() {
            all.extend(ask.message.played_for.iter().cloned().map(|mut one| {
                one.events_before += events_before;
                one
            }));
            events_before += event_count(ask.body()) as u32;
        }
        all
    }

    /// The remaining time: the time of the move and the bank, less the time since the ask arrived.
    ///
    /// It does not include the way from and to the arena. The message's clock has how long that and
    /// the decision took last time.
    pub fn time_left(&self) -> Duration {
        self.untyped.due.saturating_duration_since(Instant::now())
    }

    /// What the random numbers of this decision are seeded with: 32 secret bytes, the same in every
    /// language.
    ///
    /// They follow from the match's dice and the number of the decision. If the arena sent no dice,
    /// the SDK draws some for the process.
    pub fn seed(&self) -> [u8; HASH_BYTES] {
        seed_of(&self.game_match, self.untyped.message.decision)
    }

    /// A generator at the beginning of the random numbers of this decision, by
    /// [`seed`](Ask::seed). Keep it for the decision: each call begins anew.
    ///
    /// A bot that takes all its chance from here plays the same again if dice and asks are the same.
    /// Versions that are compared with common dice have the same numbers at the same decision, so
    /// fewer deal-sets tell them apart.
    pub fn random(&self) -> fastrand::Rng {
        let seed = self.seed();
        fastrand::Rng::with_seed(u64::from_be_bytes(*seed.first_chunk().expect("32 bytes")))
    }

    /// Whether the arena still waits for an answer.
    ///
    /// A bot that searches for a long time can check this now and then. If the ask is no longer
    /// open, the bot can return [`Abandoned`](crate::Abandoned).
    pub fn is_open(&self) -> bool {
        self.untyped.is_open()
    }
}

fn seed_of(game_match: &Match, decision: u32) -> [u8; HASH_BYTES] {
    let dice = if game_match.start.dice.is_empty() {
        [&OWN_DICE.to_be_bytes()[..], &game_match.number().to_be_bytes()].concat()
    } else {
        game_match.start.dice.clone()
    };
    let key = hmac::Key::new(hmac::HMAC_SHA256, &dice);
    let tag = hmac::sign(&key, &decision.to_be_bytes());
    tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The end of a match before it has the types of its game.
#[derive(Debug)]
pub(crate) struct UntypedEnd {
    pub message: v1::MatchEnd,
    pub game_match: Arc<Match>,
    /// Asks of the match that the bot did not receive, oldest first.
    pub undelivered: Vec<Arc<UntypedAsk>>,
}

impl UntypedEnd {
    /// The end of a match whose result is unknown.
    pub fn missed(game_match: Arc<Match>) -> Self {
        let message = v1::MatchEnd { r#match: game_match.number(), ..Default::default() };
        Self { message, game_match, undelivered: Vec::new() }
    }
}

/// The end of a match.
#[derive(Debug)]
pub struct MatchEnd<G: Game> {
    /// The arena's message.
    pub message: v1::MatchEnd,
    /// The match that ended.
    pub game_match: Arc<Match>,
    /// What happened since the bot last received an ask, oldest first.
    pub events: Vec<G::Event>,
}

impl<G: Game> MatchEnd<G> {
    pub(crate) fn of(end: UntypedEnd) -> Self {
        let mut events: Vec<_> =
            end.undelivered.iter().flat_map(|ask| G::events(ask.body())).collect();
        let trailing = end.message.trailing_events.iter().filter_map(|event| event.game.as_ref());
        events.extend(trailing.filter_map(G::event));
        Self { message: end.message, game_match: end.game_match, events }
    }

    /// Whether the match ended while the bot was disconnected. Its result is then unknown.
    pub fn missed(&self) -> bool {
        self.message.ending == v1::Ending::Unspecified as i32
    }
}

#[cfg(test)]
mod tests;
