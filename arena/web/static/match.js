// Unpacks the file of a match, and shows the viewer and the hand of the address: ?viewer=seat-1&hand=3&step=88.
"use strict";
(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const query = new URLSearchParams(location.search), step = query.get("step");
  const text = document.getElementById("packed").textContent;

  async function unpacked() {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function lead(selector, key, value) {
    for (const link of all(selector)) {
      const address = new URL(link.href);
      address.searchParams.set(key, value);
      link.href = address.search;
    }
  }
  function mark(selector, key, value) {
    for (const link of all(selector)) {
      if (new URL(link.href).searchParams.get(key) === value) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  function turn(selector, hand, last) {
    if (hand < 1 || hand > last) document.querySelector(selector).remove();
    else lead(selector, "hand", hand);
  }

  unpacked().then(({ viewers, pool }) => {
    const names = Object.keys(viewers), wanted = query.has("seat") ? "seat-" + query.get("seat") : query.get("viewer");
    const viewer = names.includes(wanted) ? wanted : names[0], hands = viewers[viewer];
    const found = hands.findIndex((steps) => steps.some((each) => each[0] === step));
    const hand = found >= 0 ? found + 1 : Math.min(Math.max(1, Number(query.get("hand")) || 1), hands.length);
    lead(".hands a, .hand-turn", "viewer", viewer);
    lead(".choices a", "hand", hand);
    mark(".choices a", "viewer", viewer);
    mark(".hands a", "hand", String(hand));
    turn("a[rel=prev]", hand - 1, hands.length);
    turn("a[rel=next]", hand + 1, hands.length);
    for (const each of all(".choices, .watch")) each.hidden = false;
    for (const each of all(".hand-number")) each.textContent = hand;
    document.dispatchEvent(new CustomEvent("unpacked", { detail: { at: 0, steps: hands[hand - 1], pool } }));
  });
})();
