import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { frameOf } from "./frames.js";
import { AnswerSchema, ClockSchema, LimitsSchema } from "./gen/cardarena/v1/play_pb.js";
import { Arena, answersIn, jamAsk, sentBy } from "./messages.testing.js";
import { Outbox } from "./outbox.js";

test("a forced move is answered without the bot, and its events are posted", () => {
  const arena = new Arena(false);
  arena.asks(jamAsk(1, 1, 1));
  assert.deepEqual(arena.answers(), [1]);
  const [, ask] = arena.posted;
  assert.equal(ask?.kind === "ask" && ask.answered, true);
});

test("a repeated ask gets the same answer, and the bot is not called again", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.session.answer([{ askId: 7n, index: 2, note: "first" }]);
  arena.session.answer([{ askId: 7n, index: 1, note: "second" }]);
  assert.deepEqual(
    sentBy(arena.out).map((one) => [one.choice.value, one.note]),
    [[2, "first"]],
  );
  arena.kinds();
  arena.stream(2, jamAsk(7));
  assert.deepEqual(
    sentBy(arena.out).map((one) => [one.choice.value, one.note]),
    [[2, "first"]],
  );
  assert.deepEqual(arena.kinds(), []);
});

test("waits in the own queue and on the network are noted", () => {
  const arena = new Arena();
  let nowMs = 0;
  for (let id = 1; id < 7; id += 1) {
    const ask = jamAsk(id);
    ask.clock = create(ClockSchema, { lastRoundTripMs: 250 }); // 200 ms of it are the bot's
    arena.session.receive({ asks: [frameOf(ask)] }, nowMs);
    const choice = { askId: BigInt(id), index: 0, note: "", deliveredMs: nowMs + 50 };
    nowMs += 200;
    arena.session.answer([choice], nowMs);
  }
  const note = "times: 4 asks waited 0.200 s in the own queue; 4 took 0.200 s on the network";
  assert.deepEqual(
    sentBy(arena.out).map((one) => one.note),
    ["", "", "", "", note, ""],
  );
});

test("an answer to a closed ask is kept, and sent if the ask is repeated", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.send({ case: "askClosed", value: { askId: 7n } });
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
  arena.asks(jamAsk(7));
  assert.deepEqual(arena.answers(), [7]);
});

test("a closed ask without an answer is reopened if it is repeated", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.kinds();
  arena.stream(2);
  arena.asks(jamAsk(7));
  assert.deepEqual(arena.kinds(), ["closed 7", "reopened 7"]);
});

test("the next ask of a match closes the one before", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.asks(jamAsk(8));
  assert.deepEqual(arena.kinds(), ["started", "ask 7", "closed 7", "ask 8"]);
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
});

test("if the arena lost its state, all matches end", () => {
  const arena = new Arena();
  arena.kinds();
  arena.stream(1);
  assert.deepEqual(arena.kinds(), ["ended"]);
});

test("without a stream nothing is sent", () => {
  const arena = new Arena();
  arena.asks(jamAsk(7));
  arena.session.streamLost();
  arena.session.answer([{ askId: 7n, index: 0, note: "" }]);
  assert.deepEqual(arena.answers(), []);
});

const NOTES: readonly (readonly [string, string, string])[] = [
  ["short", "short", "a short note stays"],
  ["\u{1F0A1}".repeat(200), "\u{1F0A1}".repeat(200), "code points count, not UTF-16 units"],
  ["a".repeat(201), `${"a".repeat(199)}…`, "a long note is truncated"],
  ["half \ud83d", "half \ufffd", "half an emoji is replaced, as UTF-8 cannot have it"],
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
  [{}, [6], "all in one message"],
  [{ maxAnswers: 4 }, [4, 2], "up to the maximum number of answers"],
  [{ maxMessageBytes: 60 }, [3, 3], "up to the maximum number of bytes"],
];
for (const [limits, sizes, why] of LIMITS) {
  test(`answers in messages: ${why}`, () => {
    const out = new Outbox(() => {});
    out.setLimits(create(LimitsSchema, limits));
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

test("an answer over the limit becomes a note", () => {
  const out = new Outbox(() => {});
  out.setLimits(create(LimitsSchema, { maxMessageBytes: 60 }));
  const long = create(AnswerSchema, { askId: 1n, note: "a".repeat(100) });
  out.putAnswers([toBinary(AnswerSchema, long)]);
  assert.match(sentBy(out)[0]?.note ?? "", /^error: the answer has 1\d\d bytes, the limit is 60$/);
});
