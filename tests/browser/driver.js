// Answers requests on stdin with what the page's script makes of them.
"use strict";

const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const { webcrypto } = require("node:crypto");
const { runInNewContext } = require("node:vm");
const { fakePage, written } = require("./document.js");

const NAMES = [
  "Damaged", "Draws", "MESSAGES", "ONE_OF", "SHUFFLES", "boardKey", "botCommitment", "contextOf",
  "crc32", "examined", "groupKey", "hex", "kindOf", "knownPacks", "plain", "planHash", "quoted",
  "rulesHash", "seededKey", "serverCommitment", "shownTo", "start", "transcriptOf",
  "viewOf",
];
const script = /<script>([^]*?)<\/script>/.exec(readFileSync(process.argv[2], "utf8"))[1];
// The page's own world: what is not listed here, as the network, it does not get.
const world = (crypto) => runInNewContext(`${script}\n({ ${NAMES.join(", ")} })`, {
  crypto, TextEncoder, TextDecoder, Uint8Array,
});
const page = world(webcrypto);

/** WebCrypto as it was before it had Ed25519. */
const olderSubtle = new Proxy(webcrypto.subtle, {
  get: (subtle, name) => async (...given) => {
    if (given.some((each) => (each?.name ?? each) === "Ed25519")) {
      throw new DOMException("Unrecognized name.", "NotSupportedError");
    }
    return subtle[name](...given);
  },
});
const olderPage = world({ subtle: olderSubtle });

const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));

async function damaged(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof page.Damaged) return { damaged: error.message };
    throw error;
  }
}

const operations = {
  async vector(group) {
    const context = await page.contextOf({
      serverId: group.server_id, dealSet: group.group_id, game: group.game,
      rulesHash: bytes(group.rules_hash), deck: group.deck, boards: group.boards,
      planHash: bytes(group.plan_hash), participants: group.participants,
      logHead: bytes(group.log_head),
    });
    const committed = await page.serverCommitment(context, bytes(group.S));
    const commits = {};
    for (const [bot, entropy] of Object.entries(group.r)) {
      commits[bot] = entropy ? page.hex(await page.botCommitment(context, bot, bytes(entropy))) : "00".repeat(32);
    }
    const list = (values, name) => Object.entries(values).map(
      ([participant, value]) => ({ participant, [name]: bytes(value) }),
    );
    const transcript = await page.transcriptOf(context, committed, list(commits, "commitment"));
    const key = await page.groupKey(transcript, bytes(group.S), list(group.r, "entropy"));
    const decks = [];
    for (const { board } of group.decks) {
      const ofBoard = await page.boardKey(key, board);
      const deck = await page.Draws.from(ofBoard, "deck");
      const order = await deck.shuffled(group.deck);
      const coin = await (await page.Draws.from(ofBoard, "coin")).below(2);
      decks.push({ board, board_key: page.hex(ofBoard), order, rejected: deck.rejected, coin });
    }
    return {
      ctx: page.hex(context), CS: page.hex(committed), commits, T: page.hex(transcript),
      K: page.hex(key), decks,
    };
  },

  /** What each participant of a group is told by fd2, and the key that follows. */
  async views({ ctx, S, CS, r, salts }) {
    const [context, secret] = [bytes(ctx), bytes(S)];
    const bots = await Promise.all(Object.keys(r).map(async (participant) => {
      const bot = { participant, entropy: bytes(r[participant]), salt: bytes(salts[participant]) };
      bot.view = await page.viewOf(context, bot);
      bot.committed = await page.serverCommitment(bot.view, secret);
      bot.commitment = bot.entropy.length
        ? await page.botCommitment(bot.view, participant, bot.entropy) : new Uint8Array(32);
      return bot;
    }));
    const transcript = await page.transcriptOf(context, bytes(CS), bots);
    for (const bot of bots) bot.shown = await page.shownTo(bot, bot.committed, transcript);
    const named = (field) => Object.fromEntries(bots.map((bot) => [bot.participant, page.hex(bot[field])]));
    return {
      views: named("view"), server_commits: named("committed"), commits: named("commitment"),
      T: page.hex(transcript), view_transcripts: named("shown"),
      K: page.hex(await page.groupKey(transcript, secret, bots)),
    };
  },

  /** Numbers below each n from given bytes, and how many bytes they took. */
  async draws({ rows }) {
    return Promise.all(rows.map(async ({ n, given }) => {
      const draws = new page.Draws(() => { throw new Error("more bytes than given"); });
      draws.left = [...given].reverse();
      const drawn = await draws.below(n);
      return { drawn, used: given.length - draws.left.length };
    }));
  },

  async hashes({ rules, plan, salt, seed }) {
    const settings = Object.entries(rules.settings).map(([name, value]) => ({ name, value }));
    return {
      rules: page.hex(await page.rulesHash(rules.game, rules.version, settings)),
      plan: page.hex(await page.planHash(plan, bytes(salt))),
      seeded: page.hex(await page.seededKey(seed)),
    };
  },

  quoted: ({ names }) => names.map(page.quoted),
  plain: ({ texts }) => texts.map(page.plain),
  crc32: ({ texts }) => texts.map((text) => page.crc32(bytes(text))),
  schema: () => ({ messages: page.MESSAGES, one_of: page.ONE_OF }),
  games: () => Object.keys(page.SHUFFLES),
  packs: ({ rows }) => rows.map(({ game, version, seats }) => page.knownPacks(
    { terms: { game, rules_version: version }, entrants: Array(seats).fill({}) },
  )),
  kinds: ({ files }) => files.map((data) => page.kindOf(bytes(data))),

  examine({ replay, log, receipts = [], boards, older = false }) {
    return damaged(async () => {
      const report = await (older ? olderPage : page).examined({
        replay: bytes(replay), log: log && bytes(log), receipts: receipts.map(bytes),
      });
      const { state, headline, explanation, verdict, checks, shuffles, added, hashes } = report;
      const dealt = [];
      for (let number = 0; number < boards; number += 1) dealt.push(await report.board(number));
      const most = Number.isFinite(report.boards) ? report.boards : null;
      return { state, headline, explanation, verdict, checks, shuffles, added, hashes, most, dealt };
    });
  },

  verdicts({ replays }) {
    return Promise.all(replays.map(async (replay) => {
      const report = await damaged(() => page.examined({ replay: bytes(replay) }));
      return report.damaged ? "damaged" : report.verdict;
    }));
  },

  /** The page after files were chosen one handful after another, and buttons clicked. */
  async show({ handfuls, clicks = 0 }) {
    const document = fakePage(readFileSync(process.argv[2], "utf8"));
    const desk = page.start(document);
    for (const files of handfuls) {
      await desk.take(files.map(({ name, data, size }) => ({
        name, size: size ?? data.length / 2, arrayBuffer: async () => bytes(data).buffer,
      })));
    }
    for (let count = 0; count < clicks; count += 1) await document.getElementById("more").click();
    return written(document);
  },
};

(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    const { operation, arguments: given } = JSON.parse(line);
    let response;
    try {
      response = { answer: await operations[operation](given) };
    } catch (error) {
      response = { failure: String(error.stack ?? error) };
    }
    process.stdout.write(`${JSON.stringify(response)}\n`);
  }
})();
