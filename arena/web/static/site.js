// Keys of pages without a hand: the list of keys, the links in the header, the pages of a list.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const help = byId("help"), on = byId("keys");
  const follow = (link) => { if (link) location.assign(link.href); };
  const KEYS = {
    "?": () => { help.open = !help.open; if (help.open) help.querySelector("summary").focus(); },
    Escape: () => { help.open = false; },
    ArrowLeft: () => follow(document.querySelector("a[rel=prev]")),
    ArrowRight: () => follow(document.querySelector("a[rel=next]")),
  };
  document.addEventListener("keydown", (event) => {
    const element = event.target instanceof Element ? event.target : null;
    const busy = element && element.closest("input, select, textarea, [role=region][tabindex], pre");
    if (!on.checked || event.ctrlKey || event.altKey || event.metaKey) return;
    if (busy && event.key.startsWith("Arrow")) return;
    const link = /^[1-5]$/.test(event.key) && document.querySelectorAll("nav[aria-label=pages] a")[Number(event.key) - 1];
    const act = KEYS[event.key] || (link ? () => follow(link) : null);
    if (act) { event.preventDefault(); act(); }
  });
  byId("switch").hidden = false;
  // On a narrow screen the chosen link of a long row may be out of view.
  const chosen = document.querySelector(".choices [aria-current]"), row = chosen && chosen.closest(".choices");
  if (row) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
})();
