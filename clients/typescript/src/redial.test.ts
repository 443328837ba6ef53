import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { isLocal, targetOf } from "./dial.js";
import { RefusedError, UnreachableError } from "./errors.js";
import { Redial, type StreamEnd } from "./redial.js";

const CUT: StreamEnd = {
  code: status.UNAVAILABLE,
  details: "",
  welcomed: true,
  livedMs: 0,
  draining: false,
  redirect: "",
  retryMs: 0,
  reason: "",
};

const redial = (once = false, nowMs = () => 0) => new Redial("main", once, nowMs, () => 1);

const ENDS: readonly (readonly [
  Partial<StreamEnd>,
  boolean,
  "comes back" | "is done" | "stops",
  string,
])[] = [
  [{}, false, "comes back", "the way is cut"],
  [
    { code: status.OK },
    false,
    "comes back",
    "the arena ended in order, and has not said that it closes",
  ],
  [{ code: status.OK, draining: true }, false, "is done", "it had said so"],
  [{ code: status.OK }, true, "is done", "it plays once"],
  [{ code: status.ABORTED }, false, "stops", "another bot took over"],
  [{ code: status.UNAUTHENTICATED }, false, "stops", "the token is not taken"],
  [
    { code: status.RESOURCE_EXHAUSTED, reason: "TOO_MANY_REFUSALS" },
    false,
    "stops",
    "it is its fault",
  ],
  [{ code: status.RESOURCE_EXHAUSTED, reason: "BUSY" }, false, "comes back", "that passes"],
  [{ code: status.INTERNAL }, false, "comes back", "it is the arena's fault"],
];
for (const [end, once, what, why] of ENDS) {
  test(`a bot ${what}: ${why}`, () => {
    const after = () => redial(once).after({ ...CUT, ...end });
    if (what === "stops") {
      assert.throws(after, RefusedError);
    } else {
      assert.equal(after() === undefined, what === "is done");
    }
  });
}

test("waits double up to a cap, and a stream that lived makes up for failures", () => {
  const one = redial();
  const waits = Array.from({ length: 9 }, () => one.after(CUT)?.delayMs);
  assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  assert.equal(one.after({ ...CUT, livedMs: 10_000 })?.delayMs, 200);
});

test("what the arena asks for is waited before, and as long again at random", () => {
  assert.equal(redial().after({ ...CUT, retryMs: 5000 })?.delayMs, 10_000);
});

test("a redirect counts until a stream is not welcomed there", () => {
  const one = redial();
  assert.deepEqual(one.after({ ...CUT, redirect: "second" }), { endpoint: "second", delayMs: 0 });
  assert.equal(one.after(CUT)?.endpoint, "second");
  assert.equal(one.after({ ...CUT, welcomed: false })?.endpoint, "main");
});

test("five redirects in a row wait", () => {
  const one = redial();
  const hops = Array.from({ length: 5 }, () => one.after({ ...CUT, redirect: "x" })?.delayMs);
  assert.deepEqual(hops, [0, 0, 0, 0, 200]);
});

test("a bot that plays once gives up after ten seconds", () => {
  let nowMs = 0;
  const one = redial(true, () => nowMs);
  nowMs = 9_950;
  assert.equal(one.after({ ...CUT, welcomed: false })?.delayMs, 50);
  nowMs = 10_000;
  assert.throws(() => one.after({ ...CUT, welcomed: false }), UnreachableError);
});

const HOSTS: readonly (readonly [string, boolean, string])[] = [
  ["localhost:7654", true, "by name"],
  ["127.0.0.2:1", true, "all of 127"],
  ["[::1]:7654", true, "IPv6"],
  ["::1", true, "IPv6, bare"],
  ["unix:/tmp/arena", true, "a socket"],
  ["localhost.example:1", false, "a name that begins so"],
  ["127.0.0.1.example:1", false, "another that does"],
  ["10.0.0.1:7654", false, "another machine"],
];
for (const [host, local, why] of HOSTS) {
  test(`${host} ${local ? "stays on" : "leaves"} this machine: ${why}`, () => {
    assert.equal(isLocal(host), local);
  });
}

const TLS = { ca: "", cert: "", key: "" };
const TARGETS: readonly (readonly [string, boolean, boolean, string | RegExp, string])[] = [
  ["https://arena:1/", true, false, "arena:1", "TLS"],
  ["https://arena:1", false, false, /needs TLS/, "a redirect to TLS, where it was not asked for"],
  ["http://localhost:1", true, false, /is plain text/, "a redirect to plain text"],
  ["arena:1", false, false, /in plain text, for all/, "the token would leave this machine"],
  ["arena:1", false, true, "arena:1", "it may"],
];
for (const [endpoint, tls, insecure, wanted, why] of TARGETS) {
  test(`dialling ${endpoint}: ${why}`, () => {
    const target = () => targetOf(endpoint, { tls: tls ? TLS : undefined, insecure });
    if (typeof wanted === "string") {
      assert.equal(target(), wanted);
    } else {
      assert.throws(target, wanted);
    }
  });
}
