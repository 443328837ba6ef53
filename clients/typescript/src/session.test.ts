import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnswerSchema, LimitsSchema } from "./gen/cardarena/v1/play_pb.js";
import { Arena, answersIn, jamAsk, sentBy } from "./messages.testing.js";
import { Outbox } from "./outbox.js";

test("a single move is answered without the bot, which is told its events", () => {
  const arena = new Arena(false);
  arena.asks(jamAsk(1, 1, 1));
  assert.deepEqual(arena.answers(), [1]);
  const [, ask] = arena.told;
  assert.equal(ask?.kind === "ask" && ask.answered, true);
});

test("an ask that comes again is answered the same, and the bot is not asked anew", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.session.answer([{ askId: 7n, index: 2, note: "first" }]);
  arena.session.answer([{ askId: 7n, index: 1, note: "second" }]);
  assert.deepEqual(
    sentBy(arena.out).map((one) => [one.choice.value, one.note]),
    [[2, "first"]],
  );
  arena.heard();
  arena.stream(2, jamAsk(7));
  assert.deepEqual(
    sentBy(arena.out).map((one) => [one.choice.value, one.note]),
    [[2, "first"]],
  );
  assert.deepEqual(arena.heard(), []);
});

test("what was thought of while the ask counted as settled is kept, and said if it comes again", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.says({ case: "askClosed", value: { askId: 7n } });
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
  arena.asks(jamAsk(7));
  assert.deepEqual(arena.answers(), [7]);
});

test("an ask that was settled and comes again without an answer is wanted again", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.heard();
  arena.stream(2);
  arena.asks(jamAsk(7));
  assert.deepEqual(arena.heard(), ["settled 7", "wanted 7"]);
});

test("the next ask of a match settles the one before", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.asks(jamAsk(8));
  assert.deepEqual(arena.heard(), ["started", "ask 7", "settled 7", "ask 8"]);
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
});

test("an arena that has begun anew has forgotten all matches", () => {
  const arena = new Arena();
  arena.heard();
  arena.stream(1);
  assert.deepEqual(arena.heard(), ["ended"]);
});

test("without a stream nothing is sent", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.session.lost();
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
});

const NOTES: readonly (readonly [string, string, string])[] = [
  ["short", "short", "a short one stays"],
  ["\u{1F0A1}".repeat(200), "\u{1F0A1}".repeat(200), "code points count, not UTF-16 units"],
  ["a".repeat(201), `${"a".repeat(199)}…`, "a long one is cut, and says so"],
];
for (const [note, sent, why] of NOTES) {
  test(`a note: ${why}`, () => {
    const arena = new Arena();
    arena.asks(jamAsk(7));
    arena.session.answer([{ askId: 7n, index: 0, note }]);
    assert.equal(sentBy(arena.out)[0]?.note, sent);
  });
}

const LIMITS: readonly (readonly [object, readonly number[], string])[] = [
  [{}, [6], "all go in one message"],
  [{ maxAnswers: 4 }, [4, 2], "no more than the arena takes in one"],
  [{ maxMessageBytes: 60 }, [3, 3], "no longer than the arena takes"],
];
for (const [limits, sizes, why] of LIMITS) {
  test(`answers in messages: ${why}`, () => {
    const out = new Outbox(() => {});
    out.limit(create(LimitsSchema, limits));
    const note = "ten chars.";
    const ids = [1n, 2n, 3n, 4n, 5n, 6n];
    out.putAnswers(
      ids.map((askId) => toBinary(AnswerSchema, create(AnswerSchema, { askId, note }))),
    );
    const frames = out.take();
    const counts = frames.map((bytes) => answersIn(bytes).length);
    assert.deepEqual(counts, sizes);
  });
}

test("an answer that is too long for the arena is said to be so", () => {
  const out = new Outbox(() => {});
  out.limit(create(LimitsSchema, { maxMessageBytes: 60 }));
  const long = create(AnswerSchema, { askId: 1n, note: "a".repeat(100) });
  out.putAnswers([toBinary(AnswerSchema, long)]);
  assert.match(
    sentBy(out)[0]?.note ?? "",
    /^error: the answer has 1\d\d bytes, the arena takes 60$/,
  );
});
