// Steps through a hand, whose trees are in the page's own data, or through a match in play, whose trees `live.js` adds.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  let steps = [], pool = [], rows = [], at = 0, timer = 0, written = 0, pending = 0, newest = null, played = null, isBroadcast = false;

  const known = (index) => cardArena.build(pool[index], known);

  function show(to) {
    at = Math.max(0, Math.min(steps.length - 1, to));
    const [label, table, words, spoken, , , hand] = steps[at];
    cardArena.draw(byId("picture"), table, known);
    byId("words").replaceChildren(cardArena.build(words, known));
    if (!timer) byId("spoken").textContent = spoken;
    if (hand !== undefined) for (const number of document.querySelectorAll(".hand-number")) number.textContent = hand + 1;
    place(label);
    rows.forEach((row, number) => {
      if (number === at) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    const log = rows[at].closest(".log"), row = rows[at];
    if (log.scrollHeight > log.clientHeight) log.scrollTop = row.offsetTop - log.offsetTop - log.clientHeight / 2;
    if (byId("what-if")) byId("what-if").href = withStep(byId("what-if").href, label);
    remember(label);
    if (at && at === steps.length - 1 && !document.querySelector("a[rel=next]") && byId("of-result")) byId("of-result").open = true;
  }

  function place(label) {
    byId("slider").max = steps.length - 1;
    byId("slider").min = Math.min(0, steps.length - 2); // the only step is the last one
    byId("slider").value = at;
    byId("slider").setAttribute("aria-valuetext", "step " + label);
    const number = (name) => name.split(".")[0];
    byId("where").textContent = "step " + number(label) + " of " + number(steps[steps.length - 1][0]);
    byId("fault").hidden = !steps.some((step) => step[4]);
  }

  function having(address, name, value) {
    const found = new URL(address);
    found.searchParams.set(name, value);
    return found.href;
  }
  const withStep = (address, label) => having(address, "step", label);

  // Update the address, at most twice a second; a match in play has one.
  function remember(label) {
    if (byId("live")) return;
    clearTimeout(pending);
    const wait = Math.max(0, written + 500 - Date.now());
    pending = setTimeout(() => { written = Date.now(); history.replaceState(null, "", withStep(location.href, label)); }, wait);
  }

  function stop() { clearTimeout(timer); timer = 0; byId("play").setAttribute("aria-label", "play"); byId("play").textContent = "play"; }
  function play() {
    if (timer) { stop(); byId("spoken").textContent = steps[at][3]; return; }
    byId("play").setAttribute("aria-label", "pause");
    byId("play").textContent = "pause";
    const next = () => {
      if (at + 1 >= steps.length) return ended();
      show(at + 1);
      timer = setTimeout(next, Number(byId("pace").value) * (steps[at][5] ? 3 : 1));
    };
    timer = setTimeout(next, 0);
  }
  function go(to) { stop(); show(to); }

  // With ?play=1 a match is a broadcast: hands play one after the other, and then the next match of the competition.
  const WAIT = 5000;
  function ended() {
    stop();
    const next = document.querySelector("a[rel=next]");
    if (isBroadcast && next) location.assign(having(next.href, "play", 1));
    else if (isBroadcast) follow_up();
  }
  function get(address, type, then) {
    const asked = new XMLHttpRequest();
    asked.responseType = type;
    asked.onload = () => { if (asked.status === 200 && asked.response) then(asked.response, asked.responseURL); };
    asked.open("GET", address);
    asked.send();
  }
  function since() {
    const past = Math.max(0, Math.floor((Date.now() - played.dataset.ended) / 1000));
    return past < 60 ? past + " s" : past < 3600 ? Math.floor(past / 60) + " min" : Math.floor(past / 3600) + " h";
  }
  function follow_up() {
    const list = new URL(played.dataset.live, location.href);
    let again = 0;
    const look = () => get(list, "json", (live) => {
      const own = live.ended.filter((each) => (each.competition || "") === played.dataset.competition && each.ended_unix_ms > played.dataset.ended);
      if (!own.length || !again) return;
      again = clearInterval(again); // a second answer would begin the same page anew
      location.assign(new URL("m/" + own[0].match + ".html?viewer=spectator&hand=1&play=1", list));
    });
    played.dataset.waits = 1;
    tell();
    again = setInterval(look, WAIT);
    look();
  }
  function tell() {
    played.textContent = "Broadcast: played " + since() + " ago." + (played.dataset.waits ? " The match is over; the next one begins when a deal-set has closed." : "");
  }
  function standings() {
    const panel = byId("standings");
    if (panel) get(panel.dataset.follow, "document", (page) => {
      const found = page.querySelector("[data-standings=" + panel.dataset.game + "]");
      if (!found || found.textContent === panel.textContent) return;
      for (const link of found.querySelectorAll("a")) link.href = link.href;
      panel.replaceChildren(...found.childNodes);
      panel.hidden = false;
    });
  }
  function broadcast() {
    played.hidden = false;
    byId("log").classList.add("as-played");
    tell();
    setInterval(tell, 1000);
    standings();
    setInterval(standings, WAIT);
    play();
  }

  function fault(direction) {
    for (let to = at + direction; to >= 0 && to < steps.length; to += direction) if (steps[to][4]) return go(to);
  }
  function follow(selector) {
    const link = document.querySelector(selector);
    if (link) location.assign(link.href);
  }
  const seeAs = (number) => { const link = document.querySelectorAll(".choices a")[number]; if (link) location.assign(withStep(link.href, steps[at][0])); };

  function help(open) {
    byId("help").hidden = !open;
    byId("ask").setAttribute("aria-expanded", String(open));
  }

  const KEYS = {
    ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(steps.length - 1),
    PageUp: () => follow("a[rel=prev]"), PageDown: () => follow("a[rel=next]"), " ": play,
    f: () => fault(1), F: () => fault(-1), c: () => follow("#costliest"), a: () => seeAs(0), s: () => seeAs(1),
    "?": () => help(byId("help").hidden), Escape: () => help(false),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, select, textarea");
    if (!byId("keys").checked || event.ctrlKey || event.altKey || event.metaKey || typing) return;
    if (event.key === " " && event.target instanceof Element && event.target.closest("button, a")) return;
    const act = KEYS[event.key] || (/^[0-8]$/.test(event.key) ? () => seeAs(2 + Number(event.key)) : null);
    if (act) { event.preventDefault(); act(); }
  });
  const PRESS = { first: () => go(0), back: () => go(at - 1), play, on: () => go(at + 1), last: () => go(steps.length - 1), fault: () => fault(1), ask: () => help(byId("help").hidden) };
  function listen() {
    byId("log").addEventListener("click", (event) => {
      const line = event.target.closest("a") && event.target.closest("li");
      if (line) { event.preventDefault(); go([...byId("log").children].indexOf(line)); }
    });
    for (const [id, act] of Object.entries(PRESS)) byId(id).addEventListener("click", act);
    byId("slider").addEventListener("input", () => go(Number(byId("slider").value)));
  }

  // The list of a match's file is empty.
  function row([label, , words, , fault]) {
    const made = document.createElement("li"), link = document.createElement("a");
    if (fault) made.className = "fault-row";
    link.href = withStep(location.href, label);
    link.textContent = label;
    made.append(link, cardArena.build(words, known));
    return made;
  }

  function begin(data) {
    ({ steps, pool, at } = data);
    listen();
    played = byId("played");
    isBroadcast = played && new URLSearchParams(location.search).has("play");
    if (!byId("log").children.length) byId("log").append(...steps.map(row));
    rows = [...byId("log").children];
    byId("controls").hidden = false;
    reveal();
    const wanted = new URLSearchParams(location.search).get("step");
    const number = steps.findIndex((step) => step[0] === wanted);
    show(number < 0 ? at : number);
    if (isBroadcast) broadcast();
  }

  // A match in play: who looks at the newest picture follows. What is equal to a part of the picture before has its key only.
  const LONGEST = 400;
  function whole(tree, same) {
    if (typeof tree === "number") return whole(pool[tree], same);
    if (!Array.isArray(tree)) return typeof tree === "string" ? tree : same.get(tree.same);
    return [tree[0], tree[1], ...tree.slice(2).map((child) => whole(child, same))];
  }
  function keyed(tree, same = new Map()) {
    if (Array.isArray(tree)) {
      if (tree[1]["data-key"]) same.set(tree[1]["data-key"], tree);
      for (const child of tree.slice(2)) keyed(child, same);
    }
    return same;
  }
  function add([label, table, ...more]) {
    const follows = !timer && at === steps.length - 1;
    newest = whole(table, keyed(newest || whole(steps[steps.length - 1][1])));
    steps.push([label, newest, ...more]);
    rows.push(row(steps[steps.length - 1]));
    byId("log").append(rows[rows.length - 1]);
    if (steps.length > LONGEST) {
      steps.shift();
      rows.shift().remove();
      at = Math.max(0, at - 1);
    }
    if (follows) show(steps.length - 1);
    else place(steps[at][0]);
  }

  // The match is over: when its replay is published, show it in place of this page, at the same step.
  function turn() {
    const { list, match, over } = byId("live").dataset;
    get(list, "json", ({ ended }) => { if (ended.some((one) => one.match === match)) get(having(new URL(over, location.href), "step", steps[at][0]), "document", replay); });
  }
  function replay(page, address) {
    const data = page.getElementById("data");
    if (!data || !byId("live")) return;
    // Links around the page are relative to the address that it had.
    for (const link of document.querySelectorAll("a, link[rel=icon]")) link.href = link.href;
    for (const form of document.forms) form.action = form.action;
    history.replaceState(null, "", address);
    document.title = page.title;
    byId("live").replaceWith(page.querySelector(".page"));
    stop();
    begin(JSON.parse(data.textContent));
  }
  cardArena.viewer = { add, turn };

  // On a narrow screen the chosen one of many viewers may be out of view.
  function reveal() {
    const chosen = document.querySelector(".choices [aria-current]"), list = chosen?.closest("ul");
    if (list) list.scrollLeft = chosen.offsetLeft - list.offsetLeft - (list.clientWidth - chosen.offsetWidth) / 2;
  }

  if (byId("data")) begin(JSON.parse(byId("data").textContent));
  else document.addEventListener("unpacked", (event) => begin(event.detail), { once: true });
})();
