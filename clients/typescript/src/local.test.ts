import assert from "node:assert/strict";
import { test } from "node:test";
import { NoEngineError, playLocal } from "./local.js";

test("a machine without the engine is told what to install", async () => {
  const path = process.env.PATH;
  process.env.PATH = "/nowhere";
  try {
    await assert.rejects(playLocal("jam", ["a", "b"]), (error) => {
      return error instanceof NoEngineError && error.message.includes("pip install");
    });
  } finally {
    process.env.PATH = path;
  }
});
