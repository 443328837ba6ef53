import assert from "node:assert/strict";
import { test } from "node:test";
import { BusyFlag } from "./busy_flag.js";

test("a clear flag is not waited for", () => {
  const flag = new BusyFlag();
  assert.equal(flag.wait(), false);
  flag.set();
  flag.clear();
  assert.equal(flag.wait(), false);
});

test("a wait times out once until the flag is cleared", () => {
  const botThread = new BusyFlag();
  const streamThread = new BusyFlag(botThread.shared, 0.01);
  botThread.set();
  assert.deepEqual(
    [streamThread.wait(), streamThread.wait(), streamThread.wait()],
    [true, false, false],
  );
  botThread.clear();
  botThread.set();
  assert.equal(streamThread.wait(), true);
});
