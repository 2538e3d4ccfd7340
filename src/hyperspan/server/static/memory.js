/**
 * What survives a reload of this window, and what a link contains. Texts stay in this window: they are stored in its
 * session, and a short one is in the link after the #, which is never sent to a server.
 */

import { Doc } from "./state.js";

/** @typedef {import("./state.js").State} State */

const KEY = "hyperspan";
const MOST_KEPT = 4_000_000;
const LONGEST_LINKED = 2_000;

const SOON = 300;
/** @type {ReturnType<typeof setTimeout> | null} */
let waiting = null;

/**
 * Store the state once nothing changes any more, at the latest when the user leaves.
 *
 * @param {State} state
 */
export function remember(state) {
  if (waiting === null) addEventListener("pagehide", () => keep(state), { once: true });
  else clearTimeout(waiting);
  waiting = setTimeout(() => {
    keep(state);
    history.replaceState(null, "", linkOf(state));
  }, SOON);
}

/**
 * Store the state, unless it is too large.
 *
 * @param {State} state
 */
function keep(state) {
  const { model, decode, threshold } = state;
  const documents = state.documents.map((doc) => ({
    text: doc.text,
    doc: doc.doc,
    gold: doc.gold,
    findings: doc.findings,
    corrections: doc.corrected(),
  }));
  const current = Math.max(0, state.documents.indexOf(state.current));
  const kept = JSON.stringify({ model, decode, threshold, documents, current });
  try {
    if (kept.length <= MOST_KEPT) sessionStorage.setItem(KEY, kept);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Without storage, the page still works.
  }
}

/**
 * Return the link to the current view.
 *
 * @param {State} state
 */
function linkOf(state) {
  const { summary } = state;
  const said = new URLSearchParams();
  if (state.models.length > 1) said.set("model", state.model);
  if (state.decode !== (summary?.decode ?? "probable")) said.set("decode", state.decode);
  if (Math.abs(state.threshold - (summary?.threshold ?? 0.3)) >= 0.005) said.set("threshold", state.threshold.toFixed(2));
  const { text } = state.current;
  if (state.documents.length === 1 && text.length <= LONGEST_LINKED && !state.gold) said.set("text", text);
  return said.size ? `#${said}` : location.pathname;
}

/**
 * Return what the link of this window contains, and what was stored if it belongs to it.
 *
 * @returns {{model: string | null, decode: string | null, threshold: number | null, documents: Doc[], current: number}}
 */
export function recall() {
  const said = new URLSearchParams(location.hash.slice(1));
  const text = said.get("text");
  const kept = keptBefore();
  const isSame = kept && (text === null || kept.documents.some((doc) => doc.text === text));
  const documents = isSame ? kept.documents : text ? [{ text }] : [];
  const threshold = Number(said.get("threshold") ?? (isSame ? kept.threshold : NaN));
  return {
    model: said.get("model") ?? (isSame ? kept.model : null),
    decode: said.get("decode") ?? (isSame ? kept.decode : null),
    threshold: threshold > 0 && threshold <= 1 ? threshold : null,
    documents: documents.map((doc) => new Doc(doc)),
    current: isSame ? kept.current : 0,
  };
}

/** Return what was stored, or null if nothing usable was. */
function keptBefore() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return Array.isArray(kept?.documents) && kept.documents.every((doc) => typeof doc.text === "string") ? kept : null;
  } catch {
    return null;
  }
}
