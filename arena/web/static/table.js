// Builds the trees of the server, and moves cards from where they lay to where they lie. The viewer and live pages use it.
"use strict";
globalThis.cardArena = (() => {
  const TAGS = new Set("a b bdi circle div g h2 h3 li ol p path progress rect span strong svg table tbody td th thead time tr ul use".split(" "));
  const ATTRIBUTES = new Set("aria-current aria-hidden aria-label class cx cy d data-key datetime height href id max r role rx scope tabindex title transform value viewBox width x y".split(" "));
  const SVG = new Set(["circle", "g", "path", "rect", "svg", "use"]);
  const MOVE = { duration: 260, easing: "ease-out" };
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // A tree is text, a list of tag, attributes and children, or what `known` finds: a subtree that was sent before.
  function build(tree, known) {
    if (typeof tree === "string") return document.createTextNode(tree);
    if (!Array.isArray(tree)) return known(tree);
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

  function cards(place) {
    const faces = new Map();
    for (const card of place.querySelectorAll(".card:not(.back, .gap)")) {
      const name = card.getAttribute("aria-label").split(",")[0];
      faces.set(name, [...(faces.get(name) || []), card]);
    }
    return faces;
  }

  // Replace the picture in a place. Cards that both pictures show move; the others appear. Nothing moves while steps follow fast.
  let drawn = 0;
  function draw(place, tree, known) {
    const now = performance.now(), moves = !still.matches && place.firstElementChild && now - drawn > MOVE.duration / 2, before = new Map();
    drawn = now;
    if (moves) for (const [name, same] of cards(place)) before.set(name, same.map((card) => card.getBoundingClientRect()));
    place.replaceChildren(build(tree, known));
    if (!moves) return;
    for (const [name, same] of cards(place)) {
      const from = before.get(name) || [];
      for (const [at, card] of same.entries()) {
        const to = card.getBoundingClientRect(), was = from[at];
        if (!was) card.animate({ opacity: [0, 1] }, MOVE);
        else if (Math.abs(was.x - to.x) + Math.abs(was.y - to.y) > 2) {
          card.animate({ transform: [`translate(${was.x - to.x}px, ${was.y - to.y}px)`, "none"], zIndex: [1, 1] }, MOVE);
        }
      }
    }
  }
  return { build, draw };
})();
