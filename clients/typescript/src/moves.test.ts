import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import * as cards from "./cards.js";
import * as eleusis from "./games/eleusis.js";
import * as jam from "./games/jam.js";
import * as oklahomaRummy from "./games/oklahoma_rummy.js";
import * as pineapple from "./games/pineapple.js";
import * as sixtySix from "./games/sixty_six.js";
import * as soko from "./games/soko.js";
import { EleusisMoveSchema } from "./gen/cardarena/games/v1/eleusis_pb.js";
import { SokoViewSchema } from "./gen/cardarena/games/v1/soko_pb.js";

test("a constructor sets the fields that its verb uses, and no others", () => {
  const { $typeName, ...fields } = pineapple.moves.raise(40);
  assert.deepEqual(fields, { verb: pineapple.Verb.RAISE, to: 40, card: "" });
  const judged = eleusis.moves.judge(eleusis.Opinion.RIGHT);
  assert.equal("card" in (toJson(EleusisMoveSchema, judged) as object), false);
  const extended = oklahomaRummy.moves.extend(1, "4c");
  assert.equal(extended.end, oklahomaRummy.End.UNSPECIFIED);
});

const MALFORMED: readonly (readonly [() => unknown, string])[] = [
  [() => pineapple.moves.raise(1.5), "half a chip"],
  [() => pineapple.moves.raise(-1), "a negative number"],
  [() => pineapple.moves.raise(2 ** 32), "a number that a message cannot hold"],
  [() => pineapple.moves.raise(Number.NaN), "not a number"],
  [() => pineapple.moves.discard("10h"), "a card of three characters"],
  [() => pineapple.moves.discard(""), "an empty card"],
  [() => eleusis.moves.play(["As", "Zz"]), "one invalid card of two"],
  [() => eleusis.moves.judge(eleusis.Opinion.WRONG, ""), "an empty optional card"],
  [() => sixtySix.moves.marriage("x" as "c"), "an invalid suit"],
  [() => jam.moves.draw(jam.Source.UNSPECIFIED), "an unspecified source"],
  [() => jam.moves.draw(99 as jam.Source), "an unknown source"],
];
for (const [make, why] of MALFORMED) {
  test(`a constructor throws at an invalid argument: ${why}`, () => {
    assert.throws(make, RangeError);
  });
}

test("cards are parsed, with spaces or without, and sorted", () => {
  assert.deepEqual(cards.parse("As Kd2cJk"), ["As", "Kd", "2c", "Jk"]);
  assert.throws(() => cards.parse("As1"), RangeError);
  assert.deepEqual(cards.sorted(["Jk", "As", "2d", "2c"]), ["2c", "2d", "As", "Jk"]);
  assert.deepEqual(cards.ofSuit(["As", "Kd", "2s", "Jk"], "s"), ["As", "2s"]);
  assert.deepEqual([cards.rank("Jk"), cards.suit("Jk"), cards.rank("Td")], [-1, -1, 8]);
});

test("bets are the range of the view", () => {
  assert.equal(soko.bets(create(SokoViewSchema)), undefined);
  const bets = soko.bets(create(SokoViewSchema, { minTo: 4, maxTo: 40 }));
  assert.equal(bets?.at(40), 40);
  assert.deepEqual([bets?.nearest(1), bets?.nearest(9.4), bets?.nearest(99)], [4, 9, 40]);
  for (const to of [3, 41, 4.5, Number.NaN]) {
    assert.throws(() => bets?.at(to), RangeError);
  }
});
