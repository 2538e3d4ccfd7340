/** The list of documents, if there are several: counts, scores, and expected errors. */

import { get, make } from "./dom.js";
import { compare, scores } from "./gold.js";
import { cut, visible } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Doc} Doc */

/** @type {Record<string, (one: any, other: any) => number>} */
const ORDERS = {
  name: (one, other) => one.at - other.at,
  uncertainty: (one, other) => other.doubt - one.doubt || one.at - other.at,
  f1: (one, other) => (one.f1 ?? 2) - (other.f1 ?? 2) || one.at - other.at,
  mentions: (one, other) => (other.count ?? -1) - (one.count ?? -1) || one.at - other.at,
};

/**
 * @param {State} state
 * @param {(doc: Doc) => void} onChoose
 */
export function listDocuments(state, onChoose) {
  const nav = get("documents");
  const list = get("documents-list");
  const order = get("documents-order");
  order.addEventListener("change", show);
  list.addEventListener("keydown", (event) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    buttons[next]?.click();
  });

  /**
   * @param {Doc} doc
   * @param {number} at
   */
  function row(doc, at) {
    const isThere = doc.isRead && state.has(state.decode, doc);
    let count = 0;
    let right = 0;
    let nGold = 0;
    for (const sentence of doc.sentences) {
      const found = state.mentionsOf(sentence);
      const gold = state.goldOf(sentence);
      count += found.length;
      if (!gold) continue;
      nGold += gold.length;
      right += compare(found, gold).right;
    }
    const f1 = isThere && doc.gold ? scores(right, count, nGold).f1 : null;
    return { doc, at, count: isThere ? count : null, f1, doubt: doc.isRead ? doc.uncertainty : -1 };
  }

  /** Show the state. */
  function show() {
    nav.hidden = state.documents.length < 2;
    if (nav.hidden) return;
    const rows = state.documents.map(row).sort(ORDERS[order.value]);
    const hadFocus = list.contains(document.activeElement);
    list.replaceChildren(
      ...rows.map(({ doc, count, f1, doubt }) => {
        const isCurrent = doc === state.current;
        const corrected = doc.corrected().length ? " ★" : "";
        const button = make(
          "button",
          { type: "button", class: "document", "aria-current": isCurrent ? "true" : null, tabindex: isCurrent ? 0 : -1 },
          make("bdi", { class: "name" }, visible(cut(doc.doc || "text", 80)) + corrected),
          make("span", { class: "number", title: "Mentions" }, count === null ? "…" : count.toLocaleString("en")),
          make("span", { class: "number", title: "F1 against gold" }, f1 === null ? "" : (100 * f1).toFixed(1)),
          make("span", { class: "number", title: "Expected errors per 100 words" }, doubt < 0 ? "" : doubt.toFixed(1)),
        );
        button.addEventListener("click", () => onChoose(doc));
        return make("li", {}, button);
      }),
    );
    const current = list.querySelector("[aria-current]");
    if (hadFocus) current?.focus({ preventScroll: true });
    current?.scrollIntoView?.({ block: "nearest" });
  }

  return { show };
}
