// Follows a match in play, or the list of matches in play: builds the trees of the feed from lists of allowed tags and attributes.
"use strict";
(() => {
  const TAGS = new Set("a b bdi div h2 h3 li ol p progress span strong svg table tbody td th thead tr ul use".split(" "));
  const ATTRIBUTES = new Set("aria-current aria-hidden aria-label class data-key href id max role scope tabindex value".split(" "));
  const SVG = new Set(["svg", "use"]);
  const LONGEST_LOG = 200, FIRST_WAIT = 2000, LONGEST_WAIT = 30000;
  const byId = (id) => document.getElementById(id);
  const live = byId("live"), state = byId("state"), picture = byId("picture");

  function build(tree, known) {
    if (typeof tree === "string") return document.createTextNode(tree);
    if (!Array.isArray(tree)) return known.get(tree.same).cloneNode(true);
    const [tag, attributes, ...children] = tree;
    if (!TAGS.has(tag)) throw new Error("unknown tag");
    const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (!ATTRIBUTES.has(name)) throw new Error("unknown attribute");
      node.setAttribute(name, value);
    }
    node.append(...children.map((child) => build(child, known)));
    return node;
  }

  function show([label, table, words, spoken, fault, , hand]) {
    const known = new Map([...picture.querySelectorAll("[data-key]")].map((node) => [node.dataset.key, node]));
    picture.replaceChildren(build(table, known));
    const said = build(words, known);
    byId("words").replaceChildren(said.cloneNode(true));
    byId("hand").textContent = "hand " + (hand + 1);
    const row = document.createElement("li"), step = document.createElement("span");
    step.className = "soft";
    step.textContent = label;
    if (fault) row.className = "fault-row";
    row.append(step, said);
    const log = byId("log");
    log.prepend(row);
    while (log.children.length > LONGEST_LOG) log.lastElementChild.remove();
    byId("spoken").textContent = spoken;
  }

  // One clock for all seats that were asked together. It runs here, without requests.
  let clock = JSON.parse(live.dataset.clock || "null"), ahead = 0;
  const seconds = (ms) => (Math.max(0, ms) / 1000).toFixed(1) + "\u00a0s";
  function tick() {
    const shown = byId("clock");
    if (!shown) return;
    const [since, move, banks] = clock || [0, 0, []];
    const used = Math.max(0, Date.now() - ahead - since), left = move - used;
    const names = banks.map(([name]) => name).join(" and ");
    const said = banks.map(([, bank]) => seconds(bank + Math.min(0, left))).join(", ");
    const time = left > 0 ? seconds(left) + ", then " + said : said;
    shown.textContent = banks.length ? names + " to move: " + time + " in the bank." : "";
  }

  if (!/^https?:$/.test(location.protocol)) return;
  let feed, wait = FIRST_WAIT;
  function follow() {
    const [path] = live.dataset.feed.split("?"), at = live.dataset.at;
    feed = new EventSource(at ? path + "?after=" + at : live.dataset.feed);
    feed.addEventListener("open", () => { wait = FIRST_WAIT; state.textContent = "Live."; });
    feed.addEventListener("error", () => {
      state.textContent = "The connection broke; trying again.";
      // A browser reconnects when a stream breaks, but not when it is refused, as while no arena answers.
      if (feed.readyState !== EventSource.CLOSED) return;
      state.textContent = "The arena does not answer; trying again.";
      setTimeout(follow, wait * (1 + Math.random() / 2));
      wait = Math.min(2 * wait, LONGEST_WAIT);
    });
    for (const [kind, handle] of Object.entries(HANDLERS)) feed.addEventListener(kind, handle);
  }
  const HANDLERS = {};
  HANDLERS.frame = (event) => {
    const message = JSON.parse(event.data);
    state.textContent = message.skipped ? message.skipped + " steps were skipped, because the bots play fast." : "Live.";
    for (const row of message.steps) show(row);
    clock = message.clock;
    tick();
    live.dataset.at = event.lastEventId;
  };
  HANDLERS.now = (event) => { ahead = Date.now() - Number(event.data); tick(); };
  HANDLERS.list = (event) => { byId("list").replaceChildren(build(JSON.parse(event.data), new Map())); };
  HANDLERS.end = (event) => {
    feed.close();
    clock = null;
    tick();
    const message = JSON.parse(event.data), link = document.createElement("a");
    link.href = live.dataset.over;
    link.textContent = "all steps, with all hands";
    state.replaceChildren("The match is over: " + message.ending + (message.scores.length ? ", scores " + message.scores.join(", ") : "") + ". ", link);
  };
  follow();
  setInterval(tick, 100);
})();
