import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { openedTranscript } from "./deal_set.js";
import { Deals } from "./deals.js";
import { readFrame } from "./frames.js";
import { HelloSchema } from "./gen/cardarena/v1/play_pb.js";
import {
  commitmentOf,
  hex,
  keyOf,
  sealOf,
  serverCommitmentOf,
  viewOf,
  viewTranscriptOf,
} from "./hashes.js";
import { Outbox } from "./outbox.js";
import { ReceiptFolder } from "./receipts.js";
import { Session } from "./session.js";

/** The vectors of the arena's tests. */
const VECTORS = new URL("../../../tests/referee/deal/", import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, VECTORS), "utf8"));
const bytes = (text: string) => Buffer.from(text, "hex");
const named = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([name, text]) => [name, bytes(text)]));

for (const vector of read("fd2_vectors.json")) {
  test(`hashes are as in the vector ${vector.name}`, () => {
    const commitments = named(vector.commits);
    const opening = {
      deal: bytes(vector.ctx),
      secret: bytes(vector.S),
      commitments,
      entropies: new Map(
        [...commitments.keys()].map((name) => [name, bytes(vector.r[name] ?? "")]),
      ),
      salts: named(vector.salts),
    };
    const transcript = openedTranscript(opening);
    assert.equal(hex(transcript), vector.T);
    assert.equal(hex(keyOf(transcript, opening.secret, opening.entropies)), vector.K);
    for (const [name, salt] of opening.salts) {
      const view = viewOf(opening.deal, name, salt);
      const server = serverCommitmentOf(view, opening.secret);
      const seal = sealOf(view, transcript, salt);
      const commitment = commitments.get(name) ?? Buffer.alloc(0);
      assert.equal(hex(view), vector.views[name]);
      assert.equal(hex(server), vector.server_commits[name]);
      assert.equal(hex(seal), vector.seals[name]);
      assert.equal(
        hex(viewTranscriptOf(view, server, name, commitment, seal)),
        vector.view_transcripts[name],
      );
      if (vector.r[name]) {
        assert.equal(hex(commitmentOf(view, name, bytes(vector.r[name]))), vector.commits[name]);
      }
    }
  });
}

test("a receipt is as in the vectors", () => {
  const { arena_says, bot_draws, receipt } = read("receipt_vectors.json");
  const folder = mkdtempSync(join(tmpdir(), "receipts-"));
  const deals = new Deals(new ReceiptFolder(folder), () => bytes(bot_draws));
  const session = new Session(create(HelloSchema), true, deals, () => {});
  session.streamOpened(new Outbox(() => {}));
  for (const text of arena_says) {
    session.receive(readFrame(bytes(text)), 0);
  }
  const [name = ""] = readdirSync(folder);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, name), "utf8")), receipt);
});

test("a receipt is read back as it was written", () => {
  const folder = mkdtempSync(join(tmpdir(), "receipts-"));
  const receipts = new ReceiptFolder(folder);
  const { arena_says, bot_draws } = read("receipt_vectors.json");
  const session = new Session(
    create(HelloSchema),
    true,
    new Deals(receipts, () => bytes(bot_draws)),
    () => {},
  );
  session.streamOpened(new Outbox(() => {}));
  for (const text of arena_says) {
    session.receive(readFrame(bytes(text)), 0);
  }
  const [name = ""] = readdirSync(folder);
  const written = readFileSync(join(folder, name), "utf8");
  const deal = receipts.read(bytes(JSON.parse(written).context));
  assert.ok(deal);
  receipts.write(deal);
  assert.equal(readFileSync(join(folder, name), "utf8"), written);
});
