/** The model in a few rows. */

import { make } from "./dom.js";
import { visible } from "./text.js";

/**
 * @param {HTMLElement} place
 * @param {any} summary one of the server's models
 */
export function showModel(place, summary) {
  if (!summary) return;
  const number = (value) => (typeof value === "number" ? value.toLocaleString("en") : null);
  const f1 = summary.dev_scores?.all?.f1;
  const threshold = `${summary.threshold.toFixed(2)}${summary.dev_scores ? ", tuned on development data" : ", not tuned"}`;
  const rows = [
    ["Structure", `${summary.structure}, up to ${summary.max_components} parts`],
    ["Types", (summary.types ?? []).join(", ")],
    ["Distribution", summary.distribution],
    ["Features", number(summary.features) ?? summary.features],
    ["Weights", number(summary.weights)],
    ["Encoder", summary.encoder],
    ["Parameters", number(summary.parameters)],
    ["Iterations", number(summary.iterations)],
    ["Annotator", summary.annotator === "none" ? null : summary.annotator],
    ["Threshold", threshold],
    ["F1 on development data", typeof f1 === "number" ? (100 * f1).toFixed(1) : null],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  place.replaceChildren(
    make("summary", {}, "Model ", make("bdi", {}, visible(summary.name))),
    make(
      "dl",
      {},
      ...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, visible(String(value)))))),
    ),
  );
}
