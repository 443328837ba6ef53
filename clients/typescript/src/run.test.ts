import assert from "node:assert/strict";
import { test } from "node:test";
import { MisconfiguredError, play } from "./index.js";

const FILES = [{ ca: "nowhere.pem" }, { clientCert: "nowhere.pem", clientKey: "nowhere.key" }];
for (const files of FILES) {
  test(`${Object.keys(files).join(" and ")} means TLS`, async () => {
    const player = { name: "mybot", bot: () => ({ move: () => 0 }) };
    const played = play(player, { address: "localhost:1", ...files });
    await assert.rejects(played, (error) => {
      assert(error instanceof MisconfiguredError);
      assert.match(error.message, /nowhere/);
      return true;
    });
  });
}
