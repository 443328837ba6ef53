// Follows a match in play, or the list of matches in play, by the trees of their feed.
"use strict";
(() => {
  const FIRST_WAIT = 2000, LONGEST_WAIT = 30000, TURN_WAIT = 3000, MOST_TURNS = 40;
  const byId = (id) => document.getElementById(id);
  const live = byId("live"), state = byId("state"), picture = byId("picture");

  // The viewer keeps what comes; the home page shows the picture and one sentence.
  function show(row) {
    if (cardArena.viewer) return cardArena.viewer.add(row);
    const shown = new Map([...picture.querySelectorAll("[data-key]")].map((node) => [node.dataset.key, node]));
    const known = ({ same }) => shown.get(same).cloneNode(true);
    cardArena.draw(picture, row[1], known);
    byId("words").replaceChildren(cardArena.build(row[2], known));
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
    // Who looks at an earlier step sees another seat to act.
    const last = cardArena.viewer && byId("log").lastElementChild;
    const now = last && !last.hasAttribute("aria-current") ? "Now, at step " + last.firstChild.textContent + ", to move: " : "Now to move: ";
    shown.textContent = banks.length ? now + names + ", " + time + " in the bank." : "";
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
  HANDLERS.list = (event) => { byId("list").replaceChildren(cardArena.build(JSON.parse(event.data))); };
  HANDLERS.end = (event) => {
    feed.close();
    clock = null;
    tick();
    const message = JSON.parse(event.data), link = document.createElement("a");
    link.href = live.dataset.over;
    link.textContent = "all steps, with all hands";
    state.replaceChildren("The match is over: " + message.ending + (message.scores.length ? ", scores " + message.scores.join(", ") : "") + ". ", link);
    if (cardArena.viewer) turn(MOST_TURNS);
  };
  // Its replay is published when the match, or its deal-set, has ended.
  function turn(tries) {
    if (!tries || !live.isConnected) return;
    cardArena.viewer.turn();
    setTimeout(turn, TURN_WAIT, tries - 1);
  }
  follow();
  setInterval(tick, 100);
})();
