// As much of a browser's document as the page uses. It knows text and no markup: whatever tries to
// put HTML into it fails, as the method or property does not exist.
"use strict";

class Element {
  constructor(tag) {
    Object.assign(this, { tag, className: "", children: [], attributes: {}, hidden: false, listeners: {} });
    this.classList = { add: () => {}, remove: () => {} };
    Object.seal(this);
  }

  set textContent(text) {
    this.children = [String(text)];
  }

  append(...children) {
    for (const child of children) {
      if (typeof child !== "string" && !(child instanceof Element)) throw new TypeError(`appended ${child}`);
    }
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  click() {
    return this.listeners.click({});
  }
}

/** A document with the elements that have an id in this HTML. */
function fakePage(html) {
  const ids = [...html.matchAll(/<(\w+)[^>]*\bid="([\w-]+)"/g)];
  const elements = new Map(ids.map(([, tag, id]) => [id, new Element(tag)]));
  return {
    elements,
    getElementById: (id) => elements.get(id),
    createElement: (tag) => new Element(tag),
    addEventListener() {},
  };
}

function tree(node) {
  if (typeof node === "string") return node;
  const { tag, className, attributes, children } = node;
  return { tag, class: className, attributes, children: children.map(tree) };
}

function text(node) {
  return typeof node === "string" ? node : node.children.map(text).join("\n");
}

/** By id: what a reader sees, and the elements it is made of. */
function written({ elements }) {
  return Object.fromEntries([...elements].map(([id, node]) => [
    id, { hidden: node.hidden, class: node.className, text: text(node), tree: tree(node) },
  ]));
}

module.exports = { fakePage, written };
