/**
 * The list of sentences. A long document is there at once as plain text; a sentence is drawn when it comes near the
 * window, and again when what is shown of it has changed.
 */

import { make } from "./dom.js";
import { drawWords, settle } from "./draw.js";
import { compare } from "./gold.js";
import { keyOf } from "./lanes.js";
import { visible } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Sentence} Sentence */

const NEAR = "700px 0px";

export class Results {
  /**
   * @param {HTMLElement} list
   * @param {State} state
   * @param {(item: HTMLElement, sentence: Sentence) => void} onHypergraph asked to open or close a hypergraph
   */
  constructor(list, state, onHypergraph) {
    this.list = list;
    this.state = state;
    this.onHypergraph = onHypergraph;
    this.version = 0;
    this.onlyErrors = false;
    /** @type {Map<Element, {sentence: Sentence, version: number, width: number, isNear: boolean}>} */
    this.views = new Map();
    /** @type {HTMLElement[]} */
    this.waiting = [];
    this.observer = new IntersectionObserver((entries) => this.#onMove(entries), { rootMargin: NEAR });
    this.width = 0;
    new ResizeObserver(() => this.#onResize()).observe(list);
  }

  clear() {
    this.observer.disconnect();
    this.views.clear();
    this.waiting = [];
    this.list.replaceChildren();
  }

  /**
   * Add a sentence; it appears with the next frame.
   *
   * @param {Sentence} sentence
   */
  add(sentence) {
    const item = make("li", { class: "sentence", dir: "ltr" });
    item.append(
      make("p", { class: "plain", dir: sentence.direction, lang: "" }, visible(flat(sentence.text))),
      make("div", { class: "drawings" }),
    );
    this.views.set(item, { sentence, version: -1, width: 0, isNear: false });
    this.waiting.push(item);
    if (this.waiting.length === 1) requestAnimationFrame(() => this.#appear());
  }

  #appear() {
    const items = this.waiting;
    this.waiting = [];
    for (const item of items) {
      item.hidden = this.onlyErrors && !this.#hasError(this.views.get(item).sentence);
      this.observer.observe(item);
    }
    this.list.append(...items);
  }

  /** Draw anew what is near the window; the rest when it comes near. */
  refresh() {
    this.version++;
    const near = [];
    for (const [item, view] of this.views) {
      item.hidden = this.onlyErrors && !this.#hasError(view.sentence);
      if (view.isNear) near.push(item);
    }
    this.#drawAll(near);
  }

  #onResize() {
    if (this.list.clientWidth === this.width) return;
    this.width = this.list.clientWidth;
    const near = [...this.views].filter(([, view]) => view.isNear).map(([item]) => item);
    this.#settle(near);
  }

  /** @param {Element[]} items */
  #drawAll(items) {
    for (const item of items) this.#draw(item);
    this.#settle(items);
  }

  /** @param {Element[]} items */
  #settle(items) {
    for (const item of items) this.views.get(item).width = this.width;
    settle(items.flatMap((item) => [...item.querySelectorAll(".words")]));
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #onMove(entries) {
    const stale = [];
    for (const { target, isIntersecting } of entries) {
      const view = this.views.get(target);
      if (!view) continue;
      view.isNear = isIntersecting;
      if (isIntersecting && (view.version !== this.version || view.width !== this.width)) stale.push(target);
    }
    this.#drawAll(stale);
  }

  /**
   * Draw a sentence, unless what is shown is right already.
   *
   * @param {Element} item
   */
  draw(item) {
    if (this.views.get(item)?.version !== this.version) this.#drawAll([item]);
  }

  /** @param {Element} item */
  #draw(item) {
    const view = this.views.get(item);
    if (!view || view.version === this.version) return;
    const { sentence } = view;
    const { state } = this;
    const drawings = item.querySelector(".drawings");
    const found = state.mentionsOf(sentence);
    const { added, gone } = state.changesOf(sentence);
    const verdicts = sentence.gold && compare(found, sentence.gold);
    const marked = found.map((mention, index) => ({
      mention,
      mark: verdicts ? verdicts.found[index].mark : added.has(keyOf(mention)) ? "new" : "",
      note: verdicts ? verdicts.found[index].note : "",
    }));
    if (!verdicts) marked.push(...gone.map((mention) => ({ mention, mark: "gone", note: "" })));
    const colourOf = (type) => state.colourOf(type);
    const columns = [this.#column(verdicts ? "Found" : "", sentence, marked, colourOf)];
    if (verdicts) {
      const gold = sentence.gold.map((mention, index) => ({ mention, ...verdicts.gold[index] }));
      columns.push(this.#column("Gold", sentence, gold, colourOf));
    }
    drawings.classList.toggle("two", columns.length > 1);
    drawings.replaceChildren(...columns, this.#foot(item, sentence, drawings));
    view.version = this.version;
    item.classList.add("drawn");
  }

  /**
   * @param {string} name
   * @param {Sentence} sentence
   * @param {import("./draw.js").Marked[]} marked
   * @param {(type: string) => number} colourOf
   */
  #column(name, sentence, marked, colourOf) {
    const words = drawWords(sentence, marked, colourOf, this.list);
    const label = `${name ? `${name}: mentions` : "Mentions"} of sentence ${sentence.number + 1}`;
    words.setAttribute("role", "group");
    words.setAttribute("aria-label", marked.length ? label : `${label}: none`);
    return make("div", { class: "column" }, name ? make("h3", {}, name) : null, words);
  }

  /**
   * @param {HTMLElement} item
   * @param {Sentence} sentence
   * @param {Element} drawings
   */
  #foot(item, sentence, drawings) {
    const kept = drawings.querySelector(":scope > .foot");
    if (kept) return kept;
    const button = make(
      "button",
      {
        type: "button",
        class: "quiet open-hypergraph",
        "aria-expanded": "false",
        "aria-label": `Hypergraph of sentence ${sentence.number + 1}`,
      },
      "Hypergraph",
    );
    button.addEventListener("click", () => this.onHypergraph(item, sentence));
    const more = sentence.truncated ? "There is more here than is shown: the bound on mentions was met." : "";
    return make("div", { class: "foot" }, more ? make("span", { class: "note" }, more) : null, button);
  }

  /** @param {Sentence} sentence */
  #hasError(sentence) {
    if (!sentence.gold) return false;
    const found = this.state.mentionsOf(sentence);
    return compare(found, sentence.gold).right < Math.max(found.length, sentence.gold.length);
  }
}

/** @param {string} text */
function flat(text) {
  return text.replace(/\s+/g, " ");
}
