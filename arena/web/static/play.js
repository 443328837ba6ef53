// A seat works without this. Here the clock runs, and the others' moves since the last page are shown one by one.
"use strict";
(() => {
  const clock = document.querySelector("[data-left-ms]");
  if (clock) {
    const until = performance.now() + Number(clock.dataset.leftMs);
    const tick = () => {
      const left = Math.max(0, Math.floor((until - performance.now()) / 1000));
      clock.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
      if (left === 0) setTimeout(() => location.replace(location.pathname), 2000);
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
