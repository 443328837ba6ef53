import assert from "node:assert/strict";
import { test } from "node:test";
import { type Choice, chosen, noted } from "./bot.js";
import { type Ask, type Move, moves, newAsk, Phase } from "./games/jam.js";

const OFFERED = [moves.play("2c"), moves.play("As")];
const ALL = newAsk({ moves: OFFERED });
const PART = newAsk({ moves: OFFERED, movesComplete: false });

const CHOICES: readonly (readonly [Ask, Choice<Move>, string, string])[] = [
  [ALL, 1, "As", "an index"],
  [ALL, noted(moves.play("2c"), "low"), "2c", "an offered move with a note"],
  [ALL, 2, "move index 2 is out of range: 2 moves are offered", "an index past the list"],
  [ALL, moves.play("Kd"), "the move is not legal", "a move that is not among all legal ones"],
  [PART, moves.play("Kd"), "Kd", "a move that is not offered, of more than are"],
];
for (const [ask, choice, expected, why] of CHOICES) {
  test(`an ask for tests tells what a choice stands for: ${why}`, () => {
    if (expected.length === 2) {
      assert.equal(chosen(ask, choice).card, expected);
    } else {
      assert.throws(() => chosen(ask, choice), {
        name: "RangeError",
        message: new RegExp(expected),
      });
    }
  });
}

test("an ask for tests has the view and terms that it is given", () => {
  const ask = newAsk({ view: { phase: Phase.DRAW }, events: [{ seat: 1 }] }, { seat: 1 });
  assert.deepEqual([ask.view.phase, ask.events[0]?.seat], [Phase.DRAW, 1]);
  assert.deepEqual([ask.match.game, ask.match.seat, ALL.match.seat], ["jam", 1, 0]);
  assert.ok(ask.timeLeftMs > 50_000);
});

test("authors cannot close an ask, nor open it again", () => {
  assert.deepEqual(
    ["abort", "renew", "allEvents"].filter((name) => name in ALL),
    [],
  );
});
