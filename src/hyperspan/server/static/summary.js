/** The summary above the sentences: the number of mentions and their types, scores, and changes. */

import { get, make } from "./dom.js";
import { compare, scores } from "./gold.js";
import { NAMES } from "./state.js";
import { counted, visible } from "./text.js";

/** @typedef {import("./state.js").State} State */

/**
 * Count the visible mentions.
 *
 * @param {State} state
 * @param {() => void} onTypes called when types were hidden or shown
 * @param {string} [prefix] shown instead of the number of mentions
 */
export function summarise(state, onTypes, prefix = "") {
  const byType = new Map(state.types().map((type) => [type, 0]));
  let nMentions = 0;
  let nGold = 0;
  let right = 0;
  let nAdded = 0;
  let nGone = 0;
  let nAccepted = 0;
  let nRejected = 0;
  let nSkipped = 0;
  for (const sentence of state.sentences) {
    const found = state.mentionsOf(sentence);
    const gold = state.goldOf(sentence);
    nMentions += found.length;
    nAccepted += sentence.accepted.length;
    nRejected += sentence.rejected.length;
    nSkipped += sentence.error ? 1 : 0;
    for (const { type } of [...found, ...(gold ?? []), ...sentence.accepted]) byType.set(type, byType.get(type) ?? 0);
    for (const { type } of found) byType.set(type, byType.get(type) + 1);
    if (gold) {
      nGold += gold.length;
      right += compare(found, gold).right;
    }
    const { added, gone } = state.changesOf(sentence);
    nAdded += added.size;
    nGone += gone.length;
  }
  const place = counted(state.sentences.length, "sentence");
  get("count").textContent = prefix || `${counted(nMentions, "mention")} in ${place}.`;
  const skipped = get("skipped");
  skipped.hidden = !nSkipped;
  skipped.textContent = `${counted(nSkipped, "sentence")} skipped as too long; marked below.`;
  const corrected = get("corrected");
  corrected.hidden = !nAccepted && !nRejected;
  corrected.textContent = `You accepted ${nAccepted.toLocaleString("en")} ★ and rejected ${nRejected.toLocaleString("en")} ⊘.`;
  get("export-field").hidden = !nAccepted && !nRejected && !state.gold;
  if (get("export-field").hidden) get("export-what").value = "all";
  showTypes(state, byType, onTypes);
  showScores(state, right, nMentions, nGold);
  const changes = get("changes");
  changes.hidden = !state.before || Boolean(prefix);
  const before = state.before ? NAMES[state.before] : "";
  changes.textContent =
    nAdded || nGone
      ? `Compared with “${before}”: ${nAdded.toLocaleString("en")} new (+), ${nGone.toLocaleString("en")} gone (−).`
      : `The same mentions as “${before}”.`;
}

/**
 * A switch for each type, with its colour and its number of mentions.
 *
 * @param {State} state
 * @param {Map<string, number>} byType
 * @param {() => void} onTypes
 */
function showTypes(state, byType, onTypes) {
  const list = get("types");
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("data-type") : null;
  const items = [...byType].map(([type, count]) => {
    const isShown = !state.hidden.has(type);
    const button = make(
      "button",
      {
        type: "button",
        class: `chip hs-c${state.colourOf(type)}`,
        "aria-pressed": String(isShown),
        "data-type": type,
        title: isShown ? "Hide these on the page; downloads still contain them" : "Show these",
      },
      make("span", { class: "key" }),
      make("bdi", {}, visible(type)),
      make("span", { class: "note" }, count.toLocaleString("en")),
    );
    button.addEventListener("click", () => {
      if (isShown) state.hidden.add(type);
      else state.hidden.delete(type);
      onTypes();
    });
    return make("li", {}, button);
  });
  list.replaceChildren(...items);
  if (focused !== null) list.querySelector(`[data-type="${CSS.escape(focused)}"]`)?.focus();
}

/**
 * @param {State} state
 * @param {number} right
 * @param {number} nFound
 * @param {number} nGold
 */
function showScores(state, right, nFound, nGold) {
  const line = get("scores");
  line.hidden = !state.gold;
  get("errors-field").hidden = !state.gold;
  if (!state.gold) return;
  const { precision, recall, f1 } = scores(right, nFound, nGold);
  const percent = (ratio) => (100 * ratio).toFixed(1);
  const { findings } = state.current;
  const without = findings.length ? ` (without the ${findings.length === 1 ? "one" : findings.length} that could not be read)` : "";
  line.textContent =
    `${right.toLocaleString("en")} of ${counted(nGold, "gold mention")} found${without}: ` +
    `precision ${percent(precision)}, recall ${percent(recall)}, F1 ${percent(f1)}.`;
}

/**
 * Show the name of the document, and the problems in its annotations.
 *
 * @param {State} state
 */
export function showDocument(state) {
  const { doc, findings } = state.current;
  const name = get("doc");
  name.hidden = !doc;
  name.textContent = visible(doc);
  get("findings").hidden = !findings.length;
  get("findings-count").textContent = `${counted(findings.length, "problem")} in the annotations: not part of the gold`;
  get("findings-list").replaceChildren(
    ...findings.slice(0, 100).map((finding) => make("li", {}, make("bdi", {}, visible(finding)))),
  );
}
