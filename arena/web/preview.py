"""Previews: PNG pictures of 1200 × 630 pixels that other sites show beside a link (Open Graph), and hands as GIFs.

Only the process that draws matches loads this module, because it needs Pillow (the extra `previews`). A scene is drawn
with at most as many cards as fit, so that time and size are limited.
"""

import io
from collections.abc import Iterable, Sequence
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from arena.games.cards import JOKER
from arena.pictures.vocabulary import Card, Column, Group, Item, Pile, Scene, Zone

WIDTH: Final = 1200
HEIGHT: Final = 630
MOST_CARDS: Final = 18
"""The maximal number of cards of a seat or of the centre; others are left out."""
MOST_SEATS: Final = 6
MOST_FRAMES: Final = 40
"""The maximal number of pictures of a GIF."""
FRAME_MS: Final = 900
_FELT: Final = "#1f5546"
_SEAT: Final = "#174236"
_RAIL: Final = "#6a4529"
_PAPER: Final = "#fdf8ec"
_SOFT: Final = "#c9d9cf"
_GOLD: Final = "#f3c04b"
_BACK: Final = "#29528f"
_INK: Final = {"s": "#1c1a17", "h": "#b01026", "d": "#0a4fb0", "c": "#0c5a2b"}
_PLAIN: Final = str.maketrans({"–": "-", "−": "-", "·": "-"})
"""The characters that the font lacks, each with letters that it has."""
_LONGEST: Final = 28
"""The maximal number of letters of a name; longer ones are shortened."""


def hand_preview(title: str, words: str, names: Sequence[str], scene: Scene) -> bytes:
    """Draw a table as a PNG: the game, a title, and the cards of each seat and of the centre."""
    return _png(_hand(title, words, names, scene))


def moving_hand(title: str, names: Sequence[str], pictures: Sequence[tuple[str, Scene]]) -> bytes:
    """Draw the pictures of a hand, each with its words, as a repeating GIF of half the size.

    If there are too many pictures, some are left out evenly; the last one is shown for longer.
    """
    every = -(-len(pictures) // MOST_FRAMES)
    shown = [*reversed(pictures[::-1][::every])]
    drawn = (_hand(title, words, names, scene) for words, scene in shown)
    small = [image.resize((WIDTH // 2, HEIGHT // 2), reducing_gap=2.0) for image in drawn]
    palette = small[-1].quantize(64)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in small]
    written = io.BytesIO()
    frames[0].save(
        written,
        "gif",
        save_all=True,
        append_images=frames[1:],
        duration=[FRAME_MS] * (len(frames) - 1) + [3 * FRAME_MS],
        loop=0,
    )
    return written.getvalue()


def _hand(title: str, words: str, names: Sequence[str], scene: Scene) -> Image.Image:
    image, draw = _table(title, words)
    seats = scene.seats[:MOST_SEATS]
    columns = 1 if len(seats) < 3 else 2
    rows = -(-len(seats) // columns)
    centre = [card for zone in scene.centre for card in _cards(zone)][:MOST_CARDS]
    top, bottom = 150, HEIGHT - (160 if centre else 50)
    high, wide = (bottom - top) // rows, (WIDTH - 100) // columns
    for number, seat in enumerate(seats):
        left = 50 + wide * (number % columns)
        y = top + high * (number // columns)
        draw.rounded_rectangle((left, y, left + wide - 12, y + high - 12), 12, _SEAT)
        score = f"{seat.score} {scene.unit_of(seat)}"
        draw.text((left + 18, y + 10), _cut(names[seat.seat]), _PAPER, _font(28))
        draw.text((left + wide - 30, y + 12), score, _SOFT, _font(24), anchor="ra")
        held = [card for zone in seat.zones for card in _cards(zone)][:MOST_CARDS]
        _draw_cards(draw, held, (left + 18, y + 50), wide - 48, high - 72)
    _draw_cards(draw, centre, (50, HEIGHT - 155), WIDTH - 100, 110)
    return image


def bot_preview(title: str, lines: Sequence[str], chip: tuple[str, str, str]) -> bytes:
    """Draw a bot as a PNG: its mark, and lines of text. `chip` has two colours and letters."""
    image, draw = _table(title, "")
    ring, spot, letters = chip
    draw.ellipse((70, 190, 370, 490), ring)
    for angle in range(0, 360, 60):
        draw.arc((85, 205, 355, 475), angle, angle + 24, spot, 42)
    draw.ellipse((130, 250, 310, 430), _PAPER)
    draw.text((220, 340), letters, "#221c14", _font(64), anchor="mm")
    for number, line in enumerate(lines[:6]):
        draw.text((430, 200 + 58 * number), _cut(line, 44), _PAPER, _font(34))
    return _png(image)


def _table(title: str, words: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", (WIDTH, HEIGHT), _RAIL)
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((18, 18, WIDTH - 18, HEIGHT - 18), 26, _FELT)
    draw.text((50, 40), _cut(title, 48), _PAPER, _font(44))
    draw.text((50, 98), _cut(words, 80), _GOLD, _font(28))
    return image, draw


def _png(image: Image.Image) -> bytes:
    """Write a PNG with few colours, because a picture of cards has no more."""
    written = io.BytesIO()
    image.quantize(64).save(written, "png", optimize=True)
    return written.getvalue()


def _font(size: int) -> "ImageFont.FreeTypeFont | ImageFont.ImageFont":
    return ImageFont.load_default(size)


def _cut(text: str, most: int = _LONGEST) -> str:
    """Return one line of text, shortened to `most` letters; letters that the font lacks are drawn as boxes."""
    line = " ".join(text.translate(_PLAIN).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _cards(zone: Zone) -> Iterable[str | None]:
    """Yield the cards of a zone; None is a back."""
    for item in zone.items:
        yield from _cards_of(item)


def _cards_of(item: Item) -> Iterable[str | None]:
    match item:
        case Card():
            yield item.code
        case Group():
            yield from (card.code for card in item.cards if isinstance(card, Card))
        case Column():
            yield item.top.code
            yield from (card.code for run in item.under for card in run)
        case Pile() if item.count:
            yield item.top


def _draw_cards(
    draw: ImageDraw.ImageDraw,
    held: Sequence[str | None],
    at: tuple[int, int],
    room: int,
    high: int,
) -> None:
    """Draw cards in a row that has this room; they overlap if the row is narrow."""
    if not held or high < 40:
        return
    high = min(high, 150)
    wide = high * 5 // 7
    step = min(wide + 8, (room - wide) // max(1, len(held) - 1))
    for number, code in enumerate(held):
        left, top = at[0] + step * number, at[1]
        box = (left, top, left + wide, top + high)
        draw.rounded_rectangle(box, 8, _BACK if code is None else _PAPER, "#84775f", 1)
        if code is not None:
            _draw_face(draw, code, box)


def _draw_face(draw: ImageDraw.ImageDraw, code: str, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    suit, colour = code[1], _INK.get(code[1], "#221c14")
    size = (right - left) * 2 // 5
    rank = code if code == JOKER else code[0].replace("T", "10")
    draw.text((left + 5, top + 2), rank, colour, _font(size))
    if suit in _INK:
        _draw_suit(draw, suit, (left + size * 3 // 5 + 3, top + size * 9 // 5), size // 2, colour)
        middle = (right - (right - left) // 3, bottom - (bottom - top) // 4)
        _draw_suit(draw, suit, middle, size * 3 // 5, colour)


def _draw_suit(
    draw: ImageDraw.ImageDraw, suit: str, middle: tuple[int, int], half: int, colour: str
) -> None:
    """Draw a suit with circles and polygons, because the font has no suits."""
    x, y = middle

    def disc(dx: float, dy: float, radius: float) -> None:
        at_x, at_y, r = x + dx * half, y + dy * half, radius * half
        draw.ellipse((at_x - r, at_y - r, at_x + r, at_y + r), colour)

    def shape(*points: tuple[float, float]) -> None:
        draw.polygon([(x + dx * half, y + dy * half) for dx, dy in points], colour)

    if suit == "d":
        shape((0, -1), (0.75, 0), (0, 1), (-0.75, 0))
    elif suit == "h":
        disc(-0.45, -0.35, 0.5)
        disc(0.45, -0.35, 0.5)
        shape((-0.92, -0.15), (0.92, -0.15), (0, 1))
    else:
        shape((0, 0.1), (0.4, 1), (-0.4, 1))
        if suit == "s":
            disc(-0.45, 0.25, 0.48)
            disc(0.45, 0.25, 0.48)
            shape((0, -1), (0.9, 0.12), (-0.9, 0.12))
        else:
            disc(0, -0.5, 0.45)
            disc(-0.5, 0.2, 0.45)
            disc(0.5, 0.2, 0.45)
