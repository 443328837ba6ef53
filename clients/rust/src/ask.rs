//! What an author's code is given: matches, asks and ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::any_game::{events_told, offered};
use crate::bot::Game;
use crate::v1;

/// A match as the arena announced it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The arena's own message.
    pub start: v1::MatchStart,
}

impl Match {
    /// The arena's number of this seat at the match.
    pub fn number(&self) -> u32 {
        self.start.r#match
    }

    /// The game's id, as `jam`.
    pub fn game(&self) -> &str {
        self.start.terms.as_ref().map_or("", |terms| &terms.game)
    }

    /// The bot's own seat, from 0.
    pub fn seat(&self) -> usize {
        self.start.seat as usize
    }

    /// An option of the game; none if there is none of the name.
    pub fn option(&self, name: &str) -> Option<&v1::setting::Value> {
        let options = &self.start.terms.as_ref()?.options;
        options.iter().find(|setting| setting.name == name)?.value.as_ref()
    }
}

/// An ask of the arena, without types.
#[derive(Debug)]
pub(crate) struct Asked {
    pub message: v1::Ask,
    pub game_match: Arc<Match>,
    /// Asks before this one that the bot was never given, oldest first.
    pub before: Vec<Arc<Asked>>,
    due: Instant,
    wanted: AtomicBool,
}

impl Asked {
    /// None if this SDK does not know the ask's game.
    pub fn new(
        message: v1::Ask,
        game_match: Arc<Match>,
        before: Vec<Arc<Asked>>,
        now: Instant,
    ) -> Option<Self> {
        message.game.as_ref()?;
        let clock = message.clock.unwrap_or_default();
        let budget_ms = u64::from(clock.move_ms) + u64::from(clock.bank_ms);
        let due = now + Duration::from_millis(budget_ms);
        Some(Self { message, game_match, before, due, wanted: AtomicBool::new(true) })
    }

    pub fn id(&self) -> u64 {
        self.message.ask_id
    }

    pub fn body(&self) -> &v1::ask::Game {
        self.message.game.as_ref().expect("new has seen it")
    }

    /// Whether there is nothing to choose.
    pub fn forced(&self) -> bool {
        offered(self.body()) == (1, true)
    }

    pub fn set_wanted(&self, wanted: bool) {
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    fn told(&self) -> impl Iterator<Item = &Asked> {
        self.before.iter().map(AsRef::as_ref).chain([self])
    }
}

/// One decision of a seat, with everything that the seat may know.
#[derive(Debug)]
pub struct Ask<G: Game> {
    /// What the seat sees now.
    pub view: G::View,
    /// Legal moves, never none; all of them if [`Ask::moves_complete`].
    pub moves: Vec<G::Move>,
    /// What happened since the bot was last given an ask of this match, oldest first. The events of
    /// asks that the bot never saw are among them.
    pub events: Vec<G::Event>,
    /// The match that the ask belongs to.
    pub game_match: Arc<Match>,
    pub(crate) asked: Arc<Asked>,
}

impl<G: Game> Ask<G> {
    /// None if the ask is of another game.
    pub(crate) fn of(asked: &Arc<Asked>) -> Option<Self> {
        Some(Self {
            view: G::view(asked.body())?,
            moves: G::moves(asked.body()),
            events: asked.told().flat_map(|each| G::events(each.body())).collect(),
            game_match: asked.game_match.clone(),
            asked: asked.clone(),
        })
    }

    /// The arena's number of this ask.
    pub fn id(&self) -> u64 {
        self.asked.id()
    }

    /// The arena's own message.
    pub fn message(&self) -> &v1::Ask {
        &self.asked.message
    }

    /// Whether the rules allow no other moves than those offered.
    pub fn moves_complete(&self) -> bool {
        offered(self.asked.body()).1
    }

    /// The moves in notation, if the player wants text.
    pub fn move_texts(&self) -> &[String] {
        &self.asked.message.move_texts
    }

    /// The events in notation, if the player wants text.
    pub fn event_texts(&self) -> Vec<&str> {
        let all = self.asked.told().flat_map(|each| &each.message.event_texts);
        all.map(String::as_str).collect()
    }

    /// Moves among the events that the arena played for a bot at fault.
    pub fn played_for(&self) -> Vec<v1::PlayedFor> {
        let mut all = Vec::new();
        let mut events_before = 0;
        for each in self.asked.told() {
            all.extend(each.message.played_for.iter().cloned().map(|mut one| {
                one.events_before += events_before;
                one
            }));
            events_before += events_told(each.body()) as u32;
        }
        all
    }

    /// What is left of the move's time and the bank since the ask came. The way to the arena is not
    /// in it: the message's clock tells how long that and the thinking took last time.
    pub fn time_left(&self) -> Duration {
        self.asked.due.saturating_duration_since(Instant::now())
    }

    /// Whether an answer is still wanted. A bot that thinks for long looks now and then, and ends
    /// with [`NotWanted`](crate::NotWanted) if not.
    pub fn wanted(&self) -> bool {
        self.asked.is_wanted()
    }
}

/// The end of a match, without types.
#[derive(Debug)]
pub(crate) struct Over {
    pub message: v1::MatchEnd,
    pub game_match: Arc<Match>,
    pub before: Vec<Arc<Asked>>,
}

impl Over {
    /// A match that ended unheard.
    pub fn missed(game_match: Arc<Match>) -> Self {
        let message = v1::MatchEnd { r#match: game_match.number(), ..Default::default() };
        Self { message, game_match, before: Vec::new() }
    }
}

/// The end of a match.
#[derive(Debug)]
pub struct MatchEnd<G: Game> {
    /// The arena's own message.
    pub message: v1::MatchEnd,
    /// The match that has ended.
    pub game_match: Arc<Match>,
    /// What happened since the bot was last given an ask, oldest first.
    pub events: Vec<G::Event>,
}

impl<G: Game> MatchEnd<G> {
    pub(crate) fn of(over: Over) -> Self {
        let mut events: Vec<_> =
            over.before.iter().flat_map(|asked| G::events(asked.body())).collect();
        let trailing = over.message.trailing_events.iter().filter_map(|event| event.game.as_ref());
        events.extend(trailing.filter_map(G::event));
        Self { message: over.message, game_match: over.game_match, events }
    }

    /// Whether the match ended while the bot was cut off, so that its result is not known.
    pub fn missed(&self) -> bool {
        self.message.ending == v1::Ending::Unspecified as i32
    }
}
