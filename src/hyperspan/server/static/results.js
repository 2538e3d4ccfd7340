/**
 * The list of sentences. A long document appears at once as plain text. A sentence is drawn when it comes near the
 * visible part of the window, and again when its mentions change.
 */

import { capped } from "./capping.js";
import { make } from "./dom.js";
import { drawWords, settle } from "./draw.js";
import { compare } from "./gold.js";
import { keyOf } from "./lanes.js";
import { counted, visible } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Sentence} Sentence */
/** @typedef {import("./draw.js").Marked} Marked */

const NEAR = "700px 0px";

export class Results {
  /**
   * @param {HTMLElement} list
   * @param {State} state
   * @param {{onHypergraph: (item: HTMLElement, sentence: Sentence) => void, onNew: (item: HTMLElement) => void}} listeners
   *   asked to open or close a hypergraph, and to begin a mention
   */
  constructor(list, state, listeners) {
    this.list = list;
    this.state = state;
    this.listeners = listeners;
    this.version = 0;
    this.onlyErrors = false;
    /** @type {Map<Element, {sentence: Sentence, version: number, width: number, isNear: boolean, isWhole: boolean}>} */
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
   * Return the sentence that an element of the list shows.
   *
   * @param {Element} item
   */
  sentenceOf(item) {
    return this.views.get(item)?.sentence ?? null;
  }

  /**
   * Add a sentence; it appears with the next frame.
   *
   * @param {Sentence} sentence
   */
  add(sentence) {
    const item = make("li", { class: sentence.error ? "sentence is-skipped" : "sentence", dir: "ltr" });
    item.append(
      make("p", { class: "plain", dir: sentence.direction, lang: "" }, visible(flat(sentence.text))),
      make("div", { class: "drawings" }),
    );
    if (sentence.error) item.append(make("p", { class: "problem" }, `Not read: ${visible(sentence.error)}.`));
    this.views.set(item, { sentence, version: -1, width: 0, isNear: false, isWhole: false });
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

  /** Redraw what is near the visible part of the window, and the rest when it comes near. */
  refresh() {
    this.version++;
    const near = [];
    for (const [item, view] of this.views) {
      item.hidden = this.onlyErrors && !this.#hasError(view.sentence);
      if (view.isNear) near.push(item);
    }
    this.#drawAll(near);
  }

  /**
   * Draw one sentence anew.
   *
   * @param {Element} item
   */
  redraw(item) {
    const view = this.views.get(item);
    if (!view) return;
    view.version = -1;
    this.#drawAll([item]);
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
    if (!view || view.version === this.version || view.sentence.error) return;
    const { sentence } = view;
    const { state } = this;
    const drawings = item.querySelector(".drawings");
    const gold = state.goldOf(sentence);
    const verdicts = gold && compare(state.mentionsOf(sentence), gold);
    const isShown = ({ mention }) => !state.hidden.has(mention.type);
    const marked = (verdicts ? this.#judged(sentence, verdicts) : this.#marked(sentence)).filter(isShown);
    const { drawn, rest } = view.isWhole ? { drawn: marked, rest: [] } : capped(marked, sentence.tokens.length);
    const colourOf = (type) => state.colourOf(type);
    const columns = [this.#column(verdicts ? "Found" : "", sentence, drawn, colourOf)];
    if (verdicts) {
      const right = gold.map((mention, index) => ({ mention, ...verdicts.gold[index] })).filter(isShown);
      columns.push(this.#column("Gold", sentence, right, colourOf));
    }
    drawings.classList.toggle("two", columns.length > 1);
    drawings.replaceChildren(...columns, this.#foot(item, sentence, drawings), ...this.#below(item, view, rest.length));
    view.version = this.version;
    item.classList.add("drawn");
  }

  /**
   * Return what was found in a sentence, each with whether it is right.
   *
   * @param {Sentence} sentence
   * @param {ReturnType<typeof compare>} verdicts
   * @returns {Marked[]}
   */
  #judged(sentence, verdicts) {
    return this.state.mentionsOf(sentence).map((mention, index) => ({ mention, ...verdicts.found[index] }));
  }

  /**
   * Return the mentions of a sentence with the marks of corrections and of changes from another reading.
   *
   * @param {Sentence} sentence
   * @returns {Marked[]}
   */
  #marked(sentence) {
    const { added, gone } = this.state.changesOf(sentence);
    const of = (mentions, mark) => mentions.map((mention) => ({ mention, mark, note: "" }));
    const said = [...of(sentence.accepted, "gold"), ...of(sentence.rejected, "rejected")];
    const keys = new Set(said.map(({ mention }) => keyOf(mention)));
    const found = this.state
      .mentionsOf(sentence)
      .map((mention) => ({ mention, mark: added.has(keyOf(mention)) ? "new" : "", note: "" }));
    return [...found, ...of(gone, "gone")].filter(({ mention }) => !keys.has(keyOf(mention))).concat(said);
  }

  /**
   * @param {string} name
   * @param {Sentence} sentence
   * @param {Marked[]} marked
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
   * What is said below a sentence: that there is more, and how much.
   *
   * @param {Element} item
   * @param {{sentence: Sentence, isWhole: boolean}} view
   * @param {number} nLeft mentions that are not drawn
   */
  #below(item, view, nLeft) {
    const { sentence } = view;
    const said = [];
    if (nLeft || view.isWhole) {
      const text = nLeft ? `+${nLeft.toLocaleString("en")} less probable` : "Only the most probable";
      const attributes = { type: "button", class: "quiet more", "aria-expanded": String(view.isWhole) };
      const button = make("button", attributes, text);
      button.addEventListener("click", () => {
        view.isWhole = !view.isWhole;
        this.redraw(item);
        item.querySelector(".more")?.focus();
      });
      said.push(button);
    }
    if (this.#isCut(sentence)) {
      const most = counted(sentence.candidates.length, "mention");
      said.push(make("span", { class: "note" }, `Only the ${most} with the highest probability are kept: a limit was reached.`));
    }
    return said.length ? [make("div", { class: "below" }, ...said)] : [];
  }

  /**
   * Say whether mentions are missing at this threshold because there were too many of them.
   *
   * @param {Sentence} sentence
   */
  #isCut(sentence) {
    if (!sentence.truncated) return false;
    return this.state.decode !== "probable" || (sentence.candidates.at(-1)?.prob ?? 0) >= this.state.threshold;
  }

  /**
   * @param {HTMLElement} item
   * @param {Sentence} sentence
   * @param {Element} drawings
   */
  #foot(item, sentence, drawings) {
    const kept = drawings.querySelector(":scope > .foot");
    if (kept) return kept;
    const button = (text, name, attributes = {}) =>
      make("button", { type: "button", class: "quiet", "aria-label": `${name} ${sentence.number + 1}`, ...attributes }, text);
    const graph = button("Hypergraph", "Hypergraph of sentence", { class: "quiet open-hypergraph", "aria-expanded": "false" });
    graph.addEventListener("click", () => this.listeners.onHypergraph(item, sentence));
    const add = button("+ Mention", "Add a mention to sentence", { class: "quiet add-mention" });
    add.addEventListener("click", () => this.listeners.onNew(item));
    return make("div", { class: "foot" }, add, graph);
  }

  /** @param {Sentence} sentence */
  #hasError(sentence) {
    const gold = this.state.goldOf(sentence);
    if (!gold) return false;
    const found = this.state.mentionsOf(sentence);
    return compare(found, gold).right < Math.max(found.length, gold.length);
  }
}

/** @param {string} text */
function flat(text) {
  return text.replace(/\s+/g, " ");
}
