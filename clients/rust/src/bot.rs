//! What a bot's author writes: a bot, its choices, and a player that describes it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::ask::{Ask, Match, MatchEnd, UntypedAsk, UntypedEnd};
use crate::ask_body::accepts;
use crate::game::Game;
use crate::v1;

/// Why a bot has no move: any error.
pub type BotError = Box<dyn std::error::Error + Send + Sync>;

/// Plays one match. Each match has a bot of its own, so its fields belong to that match.
///
/// A closure that takes an ask is a bot without state.
///
/// ```
/// use cardarena::jam::{Ask, Choice, Jam};
/// use cardarena::{Bot, BotError, Player};
///
/// #[derive(Default)]
/// struct Counting {
///     moves: u32,
/// }
///
/// impl Bot<Jam> for Counting {
///     fn choose(&mut self, ask: &Ask) -> Result<Choice, BotError> {
///         self.moves += 1;
///         let note = format!("move {} of seat {}", self.moves, ask.game_match.seat());
///         Ok(Choice::index(0).note(note))
///     }
/// }
///
/// let player = Player::new("counting", |_| Counting::default());
/// ```
pub trait Bot<G: Game> {
    /// Chooses a move.
    ///
    /// # Errors
    ///
    /// Any error. An error or a panic loses the move, not the match: the SDK logs it with the ask,
    /// answers that the bot failed, and says so in the note.
    fn choose(&mut self, ask: &Ask<G>) -> Result<Choice<G>, BotError>;

    /// Called once when the match ends, also if the bot missed the end.
    fn ended(&mut self, end: &MatchEnd<G>) {
        let _ = end;
    }
}

impl<G, F> Bot<G> for F
where
    G: Game,
    F: FnMut(&Ask<G>) -> Result<Choice<G>, BotError>,
{
    fn choose(&mut self, ask: &Ask<G>) -> Result<Choice<G>, BotError> {
        self(ask)
    }
}

/// Chooses the moves of many matches at a time, for example with a neural network.
///
/// ```
/// use cardarena::jam::{Ask, Choice, Jam};
/// use cardarena::{BatchBot, BotError, Player};
///
/// struct Last;
///
/// impl BatchBot<Jam> for Last {
///     fn choose_all(&mut self, asks: &[Ask]) -> Result<Vec<Choice>, BotError> {
///         Ok(asks.iter().map(|ask| Choice::index(ask.moves.len() - 1)).collect())
///     }
/// }
///
/// let player = Player::batch("last", Last).version("1.0");
/// ```
pub trait BatchBot<G: Game>: Send {
    /// Called before the first ask of a match.
    fn started(&mut self, game_match: &Match) {
        let _ = game_match;
    }

    /// Chooses a move for each ask, in the same order.
    ///
    /// # Errors
    ///
    /// Any error. An error or a panic loses all these moves.
    fn choose_all(&mut self, asks: &[Ask<G>]) -> Result<Vec<Choice<G>>, BotError>;

    /// Called after the last ask of a match.
    fn ended(&mut self, end: &MatchEnd<G>) {
        let _ = end;
    }
}

/// The error of a bot that stopped because its ask was no longer open ([`Ask::is_open`]).
///
/// If the arena repeats the ask, the SDK calls the bot again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned;

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bot abandoned an ask that is no longer open")
    }
}

impl std::error::Error for Abandoned {}

/// A bot's answer to an ask: the index of an offered move, or a move; and an optional note.
#[derive(Clone, Debug)]
#[must_use = "return it from the bot's method"]
pub struct Choice<G: Game> {
    chosen: Chosen<G::Move>,
    note: String,
}

#[derive(Clone, Debug)]
enum Chosen<M> {
    Index(usize),
    Move(M),
}

impl<G: Game> Choice<G> {
    /// Chooses an offered move by its index in the ask's moves, from 0.
    pub fn index(index: usize) -> Self {
        Self { chosen: Chosen::Index(index), note: String::new() }
    }

    /// Chooses a move, offered or not.
    pub fn play(chosen: G::Move) -> Self {
        Self { chosen: Chosen::Move(chosen), note: String::new() }
    }

    /// Adds a note, which only the bot's owner can read. A note over the arena's limit is truncated.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The message that answers the ask.
    ///
    /// # Errors
    ///
    /// If the index is out of range, or the move is of another game.
    pub(crate) fn answer(self, ask: &Ask<G>) -> Result<v1::Answer, BotError> {
        let offered = ask.moves.len();
        let choice = match self.chosen {
            Chosen::Index(index) if index >= offered => {
                let why =
                    format!("move index {index} is out of range: {offered} moves are offered");
                return Err(why.into());
            }
            Chosen::Index(index) => v1::answer::Choice::Index(index as u32),
            Chosen::Move(chosen) => match ask.moves.iter().position(|each| *each == chosen) {
                Some(index) => v1::answer::Choice::Index(index as u32),
                None => {
                    let game = G::wire(chosen);
                    if !accepts(ask.untyped.body(), &game) {
                        let why = format!("the move is not a move of {}", ask.game_match.game());
                        return Err(why.into());
                    }
                    v1::answer::Choice::Move(v1::GameMove { game: Some(game) })
                }
            },
        };
        Ok(v1::Answer { ask_id: ask.id(), choice: Some(choice), note: self.note })
    }
}

impl<G: Game> Ask<G> {
    /// The move that a choice stands for, for the test of a bot.
    ///
    /// # Errors
    ///
    /// If the arena would not accept it: if the index is out of range, or the move is not one of all
    /// legal moves.
    pub fn chosen(&self, choice: Choice<G>) -> Result<G::Move, BotError> {
        let given = match &choice.chosen {
            Chosen::Index(_) => None,
            Chosen::Move(chosen) => Some(chosen.clone()),
        };
        match (choice.answer(self)?.choice, given) {
            (Some(v1::answer::Choice::Index(index)), _) => Ok(self.moves[index as usize].clone()),
            (_, Some(chosen)) if !self.moves_complete() => Ok(chosen),
            (_, chosen) => Err(format!("the move is not legal: {chosen:?}").into()),
        }
    }
}

/// The answer if the bot failed: no move, with the error as its note.
pub(crate) fn failed_answer(ask_id: u64, why: &impl fmt::Display) -> v1::Answer {
    let choice = Some(v1::answer::Choice::Failed(true));
    v1::Answer { ask_id, choice, note: format!("error: {why}") }
}

/// Describes a bot to the arena, and how its matches are played.
#[must_use = "pass it to `run` or `play`"]
pub struct Player {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) games: Vec<String>,
    pub(crate) max_matches: u32,
    pub(crate) max_open_asks: u32,
    pub(crate) ask_forced: bool,
    pub(crate) want_text: bool,
    pub(crate) adds_entropy: bool,
    pub(crate) bots: Bots,
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("games", &self.games)
            .finish_non_exhaustive()
    }
}

const DEFAULT_MAX_MATCHES: u32 = 64;
const DEFAULT_MAX_OPEN_ASKS: u32 = 64;

impl Player {
    /// A player with a bot for each match. A thread of the match makes and calls it.
    ///
    /// A bot without a token plays as a guest of this name.
    pub fn new<G, B, F>(name: impl Into<String>, make: F) -> Self
    where
        G: Game,
        B: Bot<G> + 'static,
        F: Fn(&Match) -> B + Send + Sync + 'static,
    {
        let make = move |game_match: &Match| -> Box<dyn UntypedBot> {
            Box::new(Typed { bot: make(game_match), game: PhantomData })
        };
        Self::of::<G>(name.into(), Bots::PerMatch(Arc::new(make)))
    }

    /// A player with one bot that chooses the moves of all matches, on a thread of its own.
    pub fn batch<G, B>(name: impl Into<String>, bot: B) -> Self
    where
        G: Game,
        B: BatchBot<G> + 'static,
    {
        Self::of::<G>(name.into(), Bots::Batch(Box::new(Typed { bot, game: PhantomData })))
    }

    fn of<G: Game>(name: String, bots: Bots) -> Self {
        Self {
            name,
            version: String::new(),
            games: G::GAMES.iter().map(ToString::to_string).collect(),
            max_matches: DEFAULT_MAX_MATCHES,
            max_open_asks: DEFAULT_MAX_OPEN_ASKS,
            ask_forced: false,
            want_text: false,
            adds_entropy: true,
            bots,
        }
    }

    /// The bot's version, in any format. The arena records it for bots that connect from outside.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The ids of the games that the bot plays. Default: all games with the bot's types.
    pub fn games(mut self, games: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.games = games.into_iter().map(Into::into).collect();
        self
    }

    /// The maximum number of matches at a time. Default: 64.
    pub fn max_matches(mut self, matches: u32) -> Self {
        self.max_matches = matches;
        self
    }

    /// The maximum number of asks that may be open at a time. Default: 64.
    pub fn max_open_asks(mut self, asks: u32) -> Self {
        self.max_open_asks = asks;
        self
    }

    /// Calls the bot also if there is only one legal move. By default the SDK answers these asks.
    pub fn ask_forced(mut self) -> Self {
        self.ask_forced = true;
        self
    }

    /// Requests moves and events in notation as well.
    pub fn want_text(mut self) -> Self {
        self.want_text = true;
        self
    }

    /// Takes no part in fair deals: the bot adds no entropy and checks no deals.
    pub fn without_entropy(mut self) -> Self {
        self.adds_entropy = false;
        self
    }
}

pub(crate) type BotFactory = dyn Fn(&Match) -> Box<dyn UntypedBot> + Send + Sync;

/// The bots of a player.
pub(crate) enum Bots {
    PerMatch(Arc<BotFactory>),
    Batch(Box<dyn UntypedBatchBot>),
}

/// A bot behind an interface without the types of its game.
pub(crate) trait UntypedBot {
    fn choose(&mut self, ask: &Arc<UntypedAsk>) -> Result<v1::Answer, BotError>;
    fn ended(&mut self, end: UntypedEnd);
}

/// The answer to each ask of a batch, or why the bot's choice is invalid.
pub(crate) type BatchAnswers = Vec<Result<v1::Answer, BotError>>;

/// A batch bot behind an interface without the types of its game.
pub(crate) trait UntypedBatchBot: Send {
    fn started(&mut self, game_match: &Match);
    fn choose_all(&mut self, asks: &[Arc<UntypedAsk>]) -> Result<BatchAnswers, BotError>;
    fn ended(&mut self, end: UntypedEnd);
}

struct Typed<G, B> {
    bot: B,
    game: PhantomData<fn() -> G>,
}

fn typed_ask<G: Game>(untyped: &Arc<UntypedAsk>) -> Result<Ask<G>, BotError> {
    let wrong = || format!("the bot does not play {}", untyped.game_match.game());
    Ask::of(untyped).ok_or_else(|| wrong().into())
}

impl<G: Game, B: Bot<G>> UntypedBot for Typed<G, B> {
    fn choose(&mut self, ask: &Arc<UntypedAsk>) -> Result<v1::Answer, BotError> {
        let ask = typed_ask(ask)?;
        self.bot.choose(&ask)?.answer(&ask)
    }

    fn ended(&mut self, end: UntypedEnd) {
        self.bot.ended(&MatchEnd::of(end));
    }
}

impl<G: Game, B: BatchBot<G>> UntypedBatchBot for Typed<G, B> {
    fn started(&mut self, game_match: &Match) {
        self.bot.started(game_match);
    }

    fn choose_all(&mut self, asks: &[Arc<UntypedAsk>]) -> Result<BatchAnswers, BotError> {
        let asks = asks.iter().map(typed_ask).collect::<Result<Vec<Ask<G>>, _>>()?;
        let choices = self.bot.choose_all(&asks)?;
        if choices.len() != asks.len() {
            let (moves, count) = (choices.len(), asks.len());
            return Err(format!("the bot returned {moves} moves for {count} asks").into());
        }
        Ok(choices.into_iter().zip(&asks).map(|(choice, ask)| choice.answer(ask)).collect())
    }

    fn ended(&mut self, end: UntypedEnd) {
        self.bot.ended(&MatchEnd::of(end));
    }
}
