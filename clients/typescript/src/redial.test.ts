import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { isLocal, optionsFor, targetOf } from "./dial.js";
import { RefusedError, UnreachableError } from "./errors.js";
import { Redial, type StreamEnd } from "./redial.js";

const CUT: StreamEnd = {
  code: status.UNAVAILABLE,
  details: "",
  welcomed: true,
  openForMs: 0,
  draining: false,
  redirect: "",
  retryDelayMs: 0,
  reason: "",
};

const redial = (once = false, nowMs = () => 0) => new Redial("main", once, nowMs, () => 1);

const ENDS: readonly (readonly [
  Partial<StreamEnd>,
  boolean,
  "reconnects" | "is done" | "is refused",
  string,
])[] = [
  [{}, false, "reconnects", "the connection is lost"],
  [
    { code: status.OK },
    false,
    "reconnects",
    "the arena closed the stream, and is not shutting down",
  ],
  [{ code: status.OK, draining: true }, false, "is done", "the arena is shutting down"],
  [{ code: status.OK }, true, "is done", "the option `once`"],
  [{ code: status.ABORTED }, false, "is refused", "another bot has the token"],
  [{ code: status.UNAUTHENTICATED }, false, "is refused", "the token is wrong"],
  [
    { code: status.RESOURCE_EXHAUSTED, reason: "TOO_MANY_REFUSALS" },
    false,
    "is refused",
    "the bot's mistake",
  ],
  [{ code: status.RESOURCE_EXHAUSTED, reason: "BUSY" }, false, "reconnects", "a temporary reason"],
  [{ code: status.INTERNAL }, false, "reconnects", "an error of the arena"],
];
for (const [end, once, what, why] of ENDS) {
  test(`a bot ${what}: ${why}`, () => {
    const after = () => redial(once).after({ ...CUT, ...end });
    if (what === "is refused") {
      assert.throws(after, RefusedError);
    } else {
      assert.equal(after() === undefined, what === "is done");
    }
  });
}

test("delays double up to a maximum, and a long stream resets them", () => {
  const one = redial();
  const delays = Array.from({ length: 9 }, () => one.after(CUT)?.delayMs);
  assert.deepEqual(delays, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  assert.equal(one.after({ ...CUT, openForMs: 10_000 })?.delayMs, 200);
});

test("a requested delay is kept, with as long again at random", () => {
  assert.equal(redial().after({ ...CUT, retryDelayMs: 5000 })?.delayMs, 10_000);
});

test("a redirect holds until a stream there gets no welcome", () => {
  const one = redial();
  assert.deepEqual(one.after({ ...CUT, redirect: "second" }), { endpoint: "second", delayMs: 0 });
  assert.equal(one.after(CUT)?.endpoint, "second");
  assert.equal(one.after({ ...CUT, welcomed: false })?.endpoint, "main");
});

test("the fifth redirect in a row has a delay", () => {
  const one = redial();
  const redirects = Array.from({ length: 5 }, () => one.after({ ...CUT, redirect: "x" })?.delayMs);
  assert.deepEqual(redirects, [0, 0, 0, 0, 200]);
});

test("a bot with `once` gives up after ten seconds", () => {
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
  ["localhost.example:1", false, "a name that starts with localhost"],
  ["127.0.0.1.example:1", false, "a name that starts with a loopback address"],
  ["10.0.0.1:7654", false, "another machine"],
];
for (const [host, local, why] of HOSTS) {
  test(`${host} ${local ? "is" : "is not"} this machine: ${why}`, () => {
    assert.equal(isLocal(host), local);
    assert.equal(optionsFor(host)["grpc.enable_http_proxy"], local ? 0 : undefined);
  });
}

const TLS = { ca: "", cert: "", key: "" };
const TARGETS: readonly (readonly [string, boolean, boolean, string | RegExp, string])[] = [
  ["https://arena:1/", true, false, "arena:1", "TLS"],
  ["https://arena:1", false, false, /needs TLS/, "a redirect to TLS, without TLS"],
  ["http://localhost:1", true, false, /is a plain-text address/, "a redirect to plain text"],
  ["arena:1", false, false, /in plain text/, "another machine in plain text"],
  ["arena:1", false, true, "arena:1", "another machine in plain text, allowed"],
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
