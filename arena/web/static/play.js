// A seat works without this. Here the clock runs, and the others' moves since the last page are shown one by one.
"use strict";
(() => {
  const clock = document.querySelector("[data-left-ms]");
  if (clock) {
    const bank = Number(clock.dataset.bankMs), until = performance.now() + Number(clock.dataset.leftMs) + bank;
    const shown = (ms) => { const s = Math.floor(ms / 1000); return Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0"); };
    const tick = () => {
      const left = Math.max(0, until - performance.now());
      clock.textContent = left > bank ? shown(left - bank) + ", then " + shown(bank) : shown(left) + " of the bank";
      if (left < 1000) setTimeout(() => location.replace(location.pathname), 2000);
      else setTimeout(tick, 1000);
    };
    tick();
  }

  const WAIT = 700, MOST = 2800;
  const data = document.getElementById("before"), form = document.getElementById("table");
  if (!data || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const pictures = JSON.parse(data.textContent), place = document.createElement("div");
  form.before(place);
  form.hidden = true;
  const next = () => {
    const tree = pictures.shift();
    if (tree) {
      cardArena.draw(place, tree);
      setTimeout(next, Math.min(WAIT, MOST / (pictures.length + 1)));
      return;
    }
    place.remove();
    form.hidden = false;
    const first = form.querySelector("[autofocus]");
    if (first) first.focus();
  };
  next();
  // Who presses a key does not wait.
  addEventListener("keydown", () => { pictures.length = 0; next(); }, { once: true });
})();
