"""The games of the arena, in one explicit list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import ModuleType
from typing import Final, cast

from arena.games import (
    abstrac,
    arlington,
    chinese_poker,
    democracy,
    eleusis,
    jam,
    klaberjass,
    loo,
    oklahoma_rummy,
    open_face_chinese_poker,
    pineapple,
    sixty_six,
    soko,
)
from arena.games.contract import BadOptions, Options, Rules
from arena.games.eleusis.options import Variant as EleusisVariant
from arena.games.options import Setting, Value, build_options, settings_of
from arena.games.pineapple.options import Variant as PineappleVariant


@dataclass(frozen=True, slots=True)
class Game:
    """One game: its rules module and what the arena says about it."""

    id: str
    """As on the wire and in commands: lower case, words joined by underscores."""
    title: str
    summary: str
    """What the game is, in a sentence."""
    module: ModuleType
    rules_version: int
    """Raised on any change in behaviour; bots declare which they play."""
    seats: tuple[int, ...]
    """The numbers of seats it can be played with."""
    preset: Mapping[str, Value] = field(default_factory=dict)
    """Options that make this game of its family; not a user's to choose."""
    page: str = ""
    """Name of the page that describes it; the id unless a family shares one."""

    @property
    def family(self) -> str:
        """Name of the rules module, of the proto file and of the codec."""
        return self.module.__name__.rpartition(".")[2]

    @property
    def rules(self) -> Rules:
        return cast("Rules", self.module)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The options that a user may choose."""
        return settings_of(self.module.Options, self.preset)

    def options(self, given: Mapping[str, object], seats: int) -> Options:
        """Validated options for a match of `seats` seats.

        Raises:
          BadOptions: naming the option, or the numbers of seats there are.
        """
        if seats not in self.seats:
            low, high = self.seats[0], self.seats[-1]
            span = f"{low}" if low == high else f"{low} to {high}"
            raise BadOptions(f"{self.id} is played by {span} seats, not {seats}")
        return build_options(self.module.Options, given, self.preset)

    def margin_bound(self, options: Options, seats: int) -> int | None:
        """The most that the rules let one seat's score differ, in a match of these options.

        From another seat's, and from its own had the same boards been played otherwise. None where
        there is no bound of use: in a race, whose margins are taken as won and lost, and where a
        score may grow with the length of what is played.
        """
        return self.rules.margin_bound(options, seats)

    def describe(self) -> str:
        """The page that `arena games show` prints, in Markdown."""
        pages = resources.files("arena.games").joinpath("pages")
        text = pages.joinpath(f"{self.page or self.id}.md").read_text("utf-8")
        sample = pages.joinpath(f"{self.id}.sample").read_text("utf-8")
        return f"{text}\n{_SAMPLE_HEADING.format(self.id)}\n```\n{sample}```\n"


_SAMPLE_HEADING: Final = """\
## Sample

The beginning of a match of {} between players who choose at random, in the notation of
replays: what a seat did, and after `>` what was told, to the seats in brackets if not to all.
"""


class UnknownGame(LookupError):
    """No game has this id. The text names those there are."""


def _abstrac(variant: abstrac.Variant, title: str, summary: str) -> Game:
    suffix = "" if variant is abstrac.Variant.BASIC else f"_{variant}"
    return Game(
        id=f"abstrac{suffix}",
        title=title,
        summary=summary,
        module=abstrac,
        rules_version=1,
        seats=(2,),
        preset={"variant": variant.value},
        page="abstrac",
    )


def _pineapple(variant: PineappleVariant, game_id: str, title: str, summary: str) -> Game:
    return Game(
        id=game_id,
        title=title,
        summary=summary,
        module=pineapple,
        rules_version=1,
        seats=tuple(range(2, 10)),
        preset={"variant": variant.value},
        page="pineapple",
    )


GAMES: Final = (
    _abstrac(
        abstrac.Variant.BASIC,
        "Abstrac",
        "Take one to three cards at a time from an open row; little with much in it wins.",
    ),
    _abstrac(
        abstrac.Variant.SUIT,
        "Abstrac by suit",
        "Abstrac where the suit of the top card says how many may be taken.",
    ),
    _abstrac(
        abstrac.Variant.UNFETTERED,
        "Unfettered Abstrac",
        "Abstrac where each turn may take one card more than the turn before.",
    ),
    _abstrac(
        abstrac.Variant.FIFTYTWO,
        "52-card Abstrac",
        "Abstrac over two halves of a full pack, scored by flush, sequence and set.",
    ),
    Game(
        id="democracy",
        title="Democracy",
        summary="All play a card at once for tricks whose cards win the vote of four tribes.",
        module=democracy,
        rules_version=1,
        seats=(2, 3, 4, 5, 6),
    ),
    Game(
        id="chinese_poker",
        title="Chinese Poker",
        summary="Set thirteen cards into three poker hands and compare with everybody else.",
        module=chinese_poker,
        rules_version=2,
        seats=(2, 3, 4),
    ),
    Game(
        id="arlington",
        title="Arlington",
        summary="Lead cards to gather more of them and sets to keep them, until the lead runs dry.",
        module=arlington,
        rules_version=1,
        seats=(2, 3, 4, 5, 6),
    ),
    Game(
        id="jam",
        title="Jam",
        summary="A colour each and 26 tricks, of which those won in a row count most.",
        module=jam,
        rules_version=1,
        seats=(2,),
    ),
    Game(
        id="klaberjass",
        title="Klaberjass",
        summary="Bid for trump, compare sequences, and make more than the other in nine tricks.",
        module=klaberjass,
        rules_version=2,
        seats=(2,),
    ),
    Game(
        id="sixty_six",
        title="Sixty-Six",
        summary="Tricks and marriages: the first to 66 points must say so, or close in time.",
        module=sixty_six,
        rules_version=2,
        seats=(2,),
    ),
    Game(
        id="loo",
        title="Loo",
        summary="Five-card Loo: a fifth of the pot for each trick, a fine for playing without one.",
        module=loo,
        rules_version=2,
        seats=tuple(range(5, 11)),
    ),
    Game(
        id="oklahoma_rummy",
        title="Oklahoma Rummy",
        summary="Sets and runs from two packs with wild 2s, and whole discard piles to take.",
        module=oklahoma_rummy,
        rules_version=2,
        seats=tuple(range(2, 9)),
    ),
    Game(
        id="soko",
        title="Soko",
        summary="Five-card stud where four of a suit or four in a row count, at spread limit.",
        module=soko,
        rules_version=1,
        seats=tuple(range(2, 9)),
    ),
    _pineapple(
        PineappleVariant.PINEAPPLE,
        "pineapple",
        "Pineapple",
        "Hold'em with three cards in hand, of which one goes before the flop.",
    ),
    _pineapple(
        PineappleVariant.CRAZY,
        "crazy_pineapple",
        "Crazy Pineapple",
        "Hold'em with three cards in hand, of which one goes after the betting on the flop.",
    ),
    _pineapple(
        PineappleVariant.CRAZY_HILO,
        "crazy_pineapple_hi_lo",
        "Crazy Pineapple Hi-Lo",
        "Crazy Pineapple where the best hand and the best low split the pot.",
    ),
    Game(
        id="open_face_chinese_poker",
        title="Open-Face Chinese Poker",
        summary="Build three poker hands card by card in the open; queens in front earn Fantasyland.",
        module=open_face_chinese_poker,
        rules_version=1,
        seats=(2, 3, 4),
    ),
    Game(
        id="eleusis",
        title="Eleusis",
        summary="One seat invents a rule; the others find it out by playing, or turn prophet.",
        module=eleusis,
        rules_version=2,
        seats=(3, 4, 5, 6, 7, 8),
        preset={"variant": EleusisVariant.ELEUSIS.value},
    ),
    Game(
        id="eleusis_express",
        title="Eleusis Express",
        summary="The short Eleusis: single cards, no prophet, and a guess ends the hand.",
        module=eleusis,
        rules_version=2,
        seats=(3, 4, 5, 6, 7, 8),
        preset={"variant": EleusisVariant.EXPRESS.value},
        page="eleusis",
    ),
)

_BY_ID: Final = {game.id: game for game in GAMES}


def game_by_id(game_id: str) -> Game:
    """The game with this id.

    Raises:
      UnknownGame: naming the games there are.
    """
    game = _BY_ID.get(game_id)
    if game is None:
        raise UnknownGame(f"there is no game {game_id!r}; the games are: {', '.join(_BY_ID)}")
    return game


__all__ = ["GAMES", "BadOptions", "Game", "UnknownGame", "game_by_id"]
