/** The current mentions as a file: brat, JSONL, SVG or a standalone page. */

import { exportFile } from "./api.js";
import { keyOf } from "./lanes.js";

/** @typedef {import("./state.js").State} State */

/**
 * Make a file of the current mentions, and let the browser save it.
 *
 * @param {State} state
 * @param {"brat" | "jsonl" | "svg" | "html"} format
 * @param {boolean} isGold gold mentions only
 * @returns {Promise<string>} its name
 */
export async function download(state, format, isGold) {
  const known = (sentence) => new Set(state.knownOf(sentence).map(keyOf));
  const mentions = state.sentences.map((sentence) => {
    const right = known(sentence);
    const kept = isGold ? state.knownOf(sentence) : state.finalOf(sentence);
    // Gold has no probability; that is how files distinguish it from predictions.
    return kept.map((mention) => ({
      type: mention.type,
      spans: mention.spans,
      prob: isGold || (!state.gold && right.has(keyOf(mention))) ? null : (mention.prob ?? null),
    }));
  });
  const { blob, name } = await exportFile({
    format,
    text: state.text,
    mentions,
    doc: state.doc || "text",
    model: state.model || undefined,
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}
