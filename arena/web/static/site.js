// All pages: the chosen colours, how long ago times were, copying of commands, and keys where no hand is shown.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => document.querySelectorAll(selector);
  const root = document.documentElement, THEME = "theme", AGES_S = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [604800, 86400, "d"]];

  // Before the body is drawn. Storage is refused to some pages that are opened from a disk.
  let theme = "auto";
  try { theme = localStorage.getItem(THEME) || theme; } catch { /* the colours of the system */ }
  if (["light", "dark"].includes(theme)) root.classList.add(theme);

  function choose(chosen) {
    root.classList.remove("light", "dark");
    if (chosen !== "auto") root.classList.add(chosen);
    try { localStorage.setItem(THEME, chosen); } catch { /* for this page only */ }
  }
  function age(time) {
    const past = (Date.now() - Date.parse(time.dateTime)) / 1000, [, unit, name] = AGES_S.find(([below]) => past < below) || [];
    if (past >= 0 && name) time.textContent = Math.floor(past / unit) + " " + name + " ago";
  }
  function copy(button) {
    const code = button.parentElement.querySelector("code").cloneNode(true);
    for (const prompt of code.querySelectorAll(".prompt")) prompt.remove();
    navigator.clipboard.writeText(code.textContent).then(() => { button.textContent = "Copied"; });
  }
  const follow = (link) => { if (link) location.assign(link.href); };

  function keys() {
    const help = byId("help"), on = byId("keys");
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
      if (busy && (event.key.startsWith("Arrow") || !element.closest("[tabindex], #keys"))) return;
      const link = /^[1-9]$/.test(event.key) && all("nav[aria-label=pages] a")[Number(event.key) - 1];
      const act = KEYS[event.key] || (link ? () => follow(link) : null);
      if (act) { event.preventDefault(); act(); }
    });
    byId("switch").hidden = false;
  }

  document.addEventListener("DOMContentLoaded", () => {
    const chosen = byId("theme-" + theme);
    if (chosen) chosen.checked = true;
    for (const input of all(".theme input")) input.addEventListener("change", () => choose(input.id.slice("theme-".length)));
    for (const time of all("time[datetime]")) age(time);
    if (navigator.clipboard) for (const button of all(".command button")) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button));
    }
    if (byId("switch")) keys();
    // A busy site is asked again, unless the reader has begun to use this page.
    const again = document.querySelector("[data-again-s]");
    if (again) setTimeout(() => { if (document.activeElement === document.body) location.reload(); }, 1000 * again.dataset.againS);
    // On a narrow screen the chosen link of a long row may be out of view.
    const current = document.querySelector(".choices [aria-current]"), row = current && current.closest(".choices");
    if (row) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  });
})();
