// Plays the hand of a picture, whose steps are in the page of its match, once after the other; it can be stopped.
"use strict";
(() => {
  const PACE = 1600, byId = (id) => document.getElementById(id), box = document.querySelector("[data-hand]");
  let steps = [], pool = [], at = 0, timer = 0;
  const known = (index) => cardArena.build(pool[index], known);

  function show(to) {
    at = (to + steps.length) % steps.length;
    cardArena.draw(byId("picture"), steps[at][1], known);
    byId("words").replaceChildren(cardArena.build(steps[at][2], known));
  }
  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => show(at + 1), PACE) : 0;
    byId("moment-play").textContent = on ? "pause" : "play";
  }
  function begin(page) {
    const data = page && page.getElementById("data");
    if (!data) return;
    ({ steps, pool, at } = JSON.parse(data.textContent));
    byId("moment-steps").hidden = false;
    byId("moment-back").addEventListener("click", () => { play(false); show(at - 1); });
    byId("moment-on").addEventListener("click", () => { play(false); show(at + 1); });
    byId("moment-play").addEventListener("click", () => play(!timer));
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play(true);
  }
  const asked = new XMLHttpRequest();
  asked.responseType = "document";
  asked.onload = () => { if (asked.status === 200) begin(asked.response); };
  asked.open("GET", box.dataset.hand);
  if (location.protocol !== "file:") asked.send();
})();
