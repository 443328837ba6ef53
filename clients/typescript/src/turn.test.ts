import assert from "node:assert/strict";
import { test } from "node:test";
import { Turn } from "./turn.js";

test("who calls no bots is not waited for", () => {
  const turn = new Turn();
  assert.equal(turn.wait(), false);
  turn.begin();
  turn.end();
  assert.equal(turn.wait(), false);
});

test("a bot that thinks for long is waited for once in a turn, and not for long", () => {
  const author = new Turn();
  const stream = new Turn(author.shared, 0.01);
  author.begin();
  assert.deepEqual([stream.wait(), stream.wait(), stream.wait()], [true, false, false]);
  author.end();
  author.begin();
  assert.equal(stream.wait(), true);
});
