//! What an author writes: a bot, and what it says of itself.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::any_game::fits;
use crate::ask::{Ask, Asked, Match, MatchEnd, Over};
use crate::v1;

/// A game as bots see it. Each family of games has its own, as [`Jam`](crate::jam::Jam);
/// [`AnyGame`](crate::AnyGame) is all of them.
pub trait Game: Sized + 'static {
    /// What a seat may know.
    type View: Clone + fmt::Debug + Send;
    /// What a seat may do.
    type Move: Clone + fmt::Debug + PartialEq + Send;
    /// What may happen.
    type Event: Clone + fmt::Debug + Send;

    /// The ids of the games that have these types.
    const GAMES: &'static [&'static str];

    #[doc(hidden)]
    fn view(body: &v1::ask::Game) -> Option<Self::View>;
    #[doc(hidden)]
    fn moves(body: &v1::ask::Game) -> Vec<Self::Move>;
    #[doc(hidden)]
    fn events(body: &v1::ask::Game) -> Vec<Self::Event>;
    #[doc(hidden)]
    fn event(event: &v1::game_event::Game) -> Option<Self::Event>;
    #[doc(hidden)]
    fn wire(chosen: Self::Move) -> v1::game_move::Game;
}

/// Why a bot has no move: any error.
pub type BotError = Box<dyn std::error::Error + Send + Sync>;

/// Plays one match: there is one for each, so that its fields are that match's.
///
/// A closure that takes an ask is a bot that keeps nothing between moves.
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
    /// Any, as the bot likes. An error, or a panic, costs the move and not the match: it is logged with
    /// the ask, the first move offered is played, and a note says so.
    fn choose(&mut self, ask: &Ask<G>) -> Result<Choice<G>, BotError>;

    /// Is told the end of the match, once, also if it was missed.
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

/// Decides the moves of many matches at a time, as with a neural network.
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
    /// Is told of a match before its first ask.
    fn started(&mut self, game_match: &Match) {
        let _ = game_match;
    }

    /// Chooses a move for each ask, in the same order.
    ///
    /// # Errors
    ///
    /// Any, as the bot likes. An error, or a panic, costs all these moves.
    fn choose_all(&mut self, asks: &[Ask<G>]) -> Result<Vec<Choice<G>>, BotError>;

    /// Is told the end of a match after its last ask.
    fn ended(&mut self, end: &MatchEnd<G>) {
        let _ = end;
    }
}

/// Says that a bot stopped thinking as its answer is not wanted any more. If it is wanted again
/// meanwhile, the bot is asked anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWanted;

impl fmt::Display for NotWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer is not wanted any more")
    }
}

impl std::error::Error for NotWanted {}

/// What a bot does at an ask: one of the offered moves by its place, or a move; perhaps with a note.
#[derive(Clone, Debug)]
#[must_use = "a bot does what it gives back"]
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
    /// Chooses the move at a place of the ask's list, from 0.
    pub fn index(place: usize) -> Self {
        Self { chosen: Chosen::Index(place), note: String::new() }
    }

    /// Chooses a move, offered or not.
    pub fn play(chosen: G::Move) -> Self {
        Self { chosen: Chosen::Move(chosen), note: String::new() }
    }

    /// Adds a note, which the bot's owner alone is shown; one that is too long is cut.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// What the choice stands for, or why it stands for nothing.
    pub(crate) fn answer(self, ask: &Ask<G>) -> Result<v1::Answer, BotError> {
        let offered = ask.moves.len();
        let choice = match self.chosen {
            Chosen::Index(place) if place >= offered => {
                return Err(
                    format!("there is no move {place}: {offered} are offered, from 0").into()
                );
            }
            Chosen::Index(place) => v1::answer::Choice::Index(place as u32),
            Chosen::Move(chosen) => match ask.moves.iter().position(|each| *each == chosen) {
                Some(place) => v1::answer::Choice::Index(place as u32),
                None => {
                    let game = G::wire(chosen);
                    if !fits(ask.asked.body(), &game) {
                        let why = format!("this is no move of {}", ask.game_match.game());
                        return Err(why.into());
                    }
                    v1::answer::Choice::Move(v1::GameMove { game: Some(game) })
                }
            },
        };
        Ok(v1::Answer { ask_id: ask.id(), choice: Some(choice), note: self.note })
    }
}

/// The answer where the author's code failed.
pub(crate) fn failed(ask_id: u64, why: &impl fmt::Display) -> v1::Answer {
    let choice = Some(v1::answer::Choice::Index(0));
    v1::Answer { ask_id, choice, note: format!("error: {why}") }
}

/// What a bot says of itself when it connects, and how its matches are played.
#[must_use = "it plays by `run` or `play`"]
pub struct Player {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) games: Vec<String>,
    pub(crate) max_matches: u32,
    pub(crate) max_open_asks: u32,
    pub(crate) ask_forced: bool,
    pub(crate) want_text: bool,
    pub(crate) adds_entropy: bool,
    pub(crate) author: Author,
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

const AT_ONCE: u32 = 64;

impl Player {
    /// A player with a bot for each match, made and called on a thread of that match.
    ///
    /// The name is said by a guest, and in logs.
    pub fn new<G, B, F>(name: impl Into<String>, make: F) -> Self
    where
        G: Game,
        B: Bot<G> + 'static,
        F: Fn(&Match) -> B + Send + Sync + 'static,
    {
        let make = move |game_match: &Match| -> Box<dyn Seated> {
            Box::new(OfGame { bot: make(game_match), game: PhantomData })
        };
        Self::of::<G>(name.into(), Author::Each(Arc::new(make)))
    }

    /// A player with one bot that decides for all matches, on a thread of its own.
    pub fn batch<G, B>(name: impl Into<String>, bot: B) -> Self
    where
        G: Game,
        B: BatchBot<G> + 'static,
    {
        Self::of::<G>(name.into(), Author::Batch(Box::new(OfGame { bot, game: PhantomData })))
    }

    fn of<G: Game>(name: String, author: Author) -> Self {
        Self {
            name,
            version: String::new(),
            games: G::GAMES.iter().map(ToString::to_string).collect(),
            max_matches: AT_ONCE,
            max_open_asks: AT_ONCE,
            ask_forced: false,
            want_text: false,
            adds_entropy: true,
            author,
        }
    }

    /// Which version of itself the bot is, in your own words; an arena notes it of remote bots.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The games that it plays, by id; all of its types if not said.
    pub fn games(mut self, games: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.games = games.into_iter().map(Into::into).collect();
        self
    }

    /// How many matches it takes at a time, and how many asks; 64 each if not said.
    pub fn at_once(mut self, matches: u32, asks: u32) -> Self {
        (self.max_matches, self.max_open_asks) = (matches, asks);
        self
    }

    /// Gives the bot also asks with a single legal move, which else are answered at once.
    pub fn ask_forced(mut self) -> Self {
        self.ask_forced = true;
        self
    }

    /// Asks for moves and events in notation as well.
    pub fn want_text(mut self) -> Self {
        self.want_text = true;
        self
    }

    /// Leaves fair deals alone. To take part costs nothing to speak of.
    pub fn without_entropy(mut self) -> Self {
        self.adds_entropy = false;
        self
    }
}

pub(crate) type Make = dyn Fn(&Match) -> Box<dyn Seated> + Send + Sync;

/// The author's code, of either kind.
pub(crate) enum Author {
    Each(Arc<Make>),
    Batch(Box<dyn SeatedMany>),
}

/// A bot without the types of its game.
pub(crate) trait Seated {
    fn decide(&mut self, asked: &Arc<Asked>) -> Result<v1::Answer, BotError>;
    fn ended(&mut self, over: Over);
}

/// What was decided of each ask.
pub(crate) type Decided = Vec<Result<v1::Answer, BotError>>;

/// A bot for many matches without the types of its game.
pub(crate) trait SeatedMany: Send {
    fn started(&mut self, game_match: &Match);
    fn decide(&mut self, asked: &[Arc<Asked>]) -> Result<Decided, BotError>;
    fn ended(&mut self, over: Over);
}

struct OfGame<G, B> {
    bot: B,
    game: PhantomData<fn() -> G>,
}

fn typed<G: Game>(asked: &Arc<Asked>) -> Result<Ask<G>, BotError> {
    let wrong = || format!("asked at {}, which is no game of this bot", asked.game_match.game());
    Ask::of(asked).ok_or_else(|| wrong().into())
}

impl<G: Game, B: Bot<G>> Seated for OfGame<G, B> {
    fn decide(&mut self, asked: &Arc<Asked>) -> Result<v1::Answer, BotError> {
        let ask = typed(asked)?;
        self.bot.choose(&ask)?.answer(&ask)
    }

    fn ended(&mut self, over: Over) {
        self.bot.ended(&MatchEnd::of(over));
    }
}

impl<G: Game, B: BatchBot<G>> SeatedMany for OfGame<G, B> {
    fn started(&mut self, game_match: &Match) {
        self.bot.started(game_match);
    }

    fn decide(&mut self, asked: &[Arc<Asked>]) -> Result<Decided, BotError> {
        let asks = asked.iter().map(typed).collect::<Result<Vec<Ask<G>>, _>>()?;
        let choices = self.bot.choose_all(&asks)?;
        if choices.len() != asks.len() {
            return Err(
                format!("{} moves were chosen for {} asks", choices.len(), asks.len()).into()
            );
        }
        Ok(choices.into_iter().zip(&asks).map(|(choice, ask)| choice.answer(ask)).collect())
    }

    fn ended(&mut self, over: Over) {
        self.bot.ended(&MatchEnd::of(over));
    }
}
