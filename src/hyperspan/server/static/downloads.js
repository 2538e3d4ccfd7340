/** What is shown, as a file: brat, JSONL, SVG or a standalone page. */

import { exportFile } from "./api.js";

/** @typedef {import("./state.js").State} State */

/**
 * Make a file of the mentions that are shown, and hand it to the browser.
 *
 * @param {State} state
 * @param {"brat" | "jsonl" | "svg" | "html"} format
 * @returns {Promise<string>} its name
 */
export async function download(state, format) {
  const mentions = state.sentences.map((sentence) =>
    state.mentionsOf(sentence).map(({ type, spans, prob }) => ({ type, spans, prob })),
  );
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
