// Steps through a hand: builds the trees that the server would have sent, from the page's own data.
"use strict";
(() => {
  const TAGS = new Set("a b bdi div h2 h3 li ol p progress span strong svg table tbody td th thead tr ul use".split(" "));
  const ATTRIBUTES = new Set("aria-current aria-hidden aria-label class data-key href id max role scope tabindex value".split(" "));
  const SVG = new Set(["svg", "use"]);
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { steps, pool } = data;
  const rows = [...byId("log").children];
  let at = data.at, timer = 0, written = 0, pending = 0;

  function build(tree) {
    if (typeof tree === "string") return document.createTextNode(tree);
    if (typeof tree === "number") return build(pool[tree]);
    const [tag, attributes, ...children] = tree;
    if (!TAGS.has(tag)) throw new Error("unknown tag");
    const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (!ATTRIBUTES.has(name)) throw new Error("unknown attribute");
      node.setAttribute(name, value);
    }
    node.append(...children.map(build));
    return node;
  }

  function show(to) {
    at = Math.max(0, Math.min(steps.length - 1, to));
    const [label, table, words, spoken] = steps[at];
    byId("picture").replaceChildren(build(table));
    byId("words").replaceChildren(build(words));
    if (!timer) byId("spoken").textContent = spoken;
    byId("slider").value = at;
    byId("slider").setAttribute("aria-valuetext", "step " + label);
    byId("where").textContent = "step " + label + " of " + steps[steps.length - 1][0];
    rows.forEach((row, number) => {
      if (number === at) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    const log = rows[at].closest(".log"), row = rows[at];
    if (log.scrollHeight > log.clientHeight) log.scrollTop = row.offsetTop - log.offsetTop - log.clientHeight / 2;
    remember(label);
  }

  // The address follows, at most twice a second.
  function remember(label) {
    clearTimeout(pending);
    const wait = Math.max(0, written + 500 - Date.now());
    pending = setTimeout(() => { written = Date.now(); history.replaceState(null, "", "?step=" + label); }, wait);
  }

  function stop() { clearTimeout(timer); timer = 0; byId("play").setAttribute("aria-label", "play"); byId("play").textContent = "play"; }
  function play() {
    if (timer) { stop(); byId("spoken").textContent = steps[at][3]; return; }
    byId("play").setAttribute("aria-label", "pause");
    byId("play").textContent = "pause";
    const beat = () => {
      if (at + 1 >= steps.length) return stop();
      show(at + 1);
      timer = setTimeout(beat, Number(byId("pace").value) * (steps[at][5] ? 3 : 1));
    };
    timer = setTimeout(beat, 0);
  }
  function go(to) { stop(); show(to); }
  function fault(direction) {
    for (let to = at + direction; to >= 0 && to < steps.length; to += direction) if (steps[to][4]) return go(to);
  }
  function follow(selector, keep) {
    const link = document.querySelector(selector);
    if (link) location.assign(link.getAttribute("href") + (keep ? "?step=" + steps[at][0] : ""));
  }
  const eyes = (number) => { const link = document.querySelectorAll(".eyes a")[number]; if (link) location.assign(link.getAttribute("href") + "?step=" + steps[at][0]); };

  function help(open) {
    byId("help").hidden = !open;
    byId("ask").setAttribute("aria-expanded", String(open));
  }

  const KEYS = {
    ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(steps.length - 1),
    PageUp: () => follow("a[rel=prev]"), PageDown: () => follow("a[rel=next]"), " ": play,
    f: () => fault(1), F: () => fault(-1), c: () => follow("#costliest"), a: () => eyes(0), s: () => eyes(1),
    "?": () => help(byId("help").hidden), Escape: () => help(false),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, select, textarea");
    if (!byId("keys").checked || event.ctrlKey || event.altKey || event.metaKey || typing) return;
    if (event.key === " " && event.target instanceof Element && event.target.closest("button, a")) return;
    const act = KEYS[event.key] || (/^[0-8]$/.test(event.key) ? () => eyes(2 + Number(event.key)) : null);
    if (act) { event.preventDefault(); act(); }
  });
  byId("log").addEventListener("click", (event) => {
    const line = event.target.closest("a") && event.target.closest("li");
    if (line) { event.preventDefault(); go([...byId("log").children].indexOf(line)); }
  });
  const press = { first: () => go(0), back: () => go(at - 1), play, on: () => go(at + 1), last: () => go(steps.length - 1), fault: () => fault(1), ask: () => help(byId("help").hidden) };
  for (const [id, act] of Object.entries(press)) byId(id).addEventListener("click", act);
  byId("slider").addEventListener("input", () => go(Number(byId("slider").value)));
  byId("fault").hidden = !steps.some((step) => step[4]);
  byId("controls").hidden = false;
  // Of many seats on a narrow screen the chosen one may stand beyond its edge.
  const chosen = document.querySelector(".eyes [aria-current]"), row = chosen?.closest("ul");
  if (row) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  const wanted = new URLSearchParams(location.search).get("step");
  const number = steps.findIndex((step) => step[0] === wanted);
  show(number < 0 ? at : number);
})();
