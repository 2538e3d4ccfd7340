/** Comparison with gold: a mention is right if its type and all its parts match. */

import { keyOf } from "./lanes.js";

/** @typedef {import("./lanes.js").Mention} Mention */

/**
 * @typedef {object} Verdict
 * @property {"right" | "wrong" | "missed"} mark
 * @property {string} note why it is wrong, in a word or two
 */

/**
 * Compare the mentions found in a sentence with its gold.
 *
 * @param {Mention[]} found
 * @param {Mention[]} gold
 * @returns {{found: Verdict[], gold: Verdict[], right: number}} a verdict for each mention, in order
 */
export function compare(found, gold) {
  const foundKeys = new Set(found.map(keyOf));
  const goldKeys = new Set(gold.map(keyOf));
  const verdict = (mention, keys, others, mark) =>
    keys.has(keyOf(mention)) ? { mark: "right", note: "" } : { mark, note: reason(mention, others) };
  return {
    found: found.map((mention) => verdict(mention, goldKeys, gold, "wrong")),
    gold: gold.map((mention) => verdict(mention, foundKeys, found, "missed")),
    right: [...foundKeys].filter((key) => goldKeys.has(key)).length,
  };
}

/**
 * @param {Mention} mention
 * @param {Mention[]} others
 */
function reason(mention, others) {
  const place = JSON.stringify(mention.spans);
  if (others.some((other) => JSON.stringify(other.spans) === place)) return "other type";
  if (others.some((other) => other.type === mention.type && overlaps(mention, other))) return "other words";
  return "";
}

/**
 * @param {Mention} one
 * @param {Mention} other
 */
export function overlaps(one, other) {
  return one.spans.some(([start, end]) => other.spans.some((span) => span[0] < end && start < span[1]));
}

/**
 * Return precision, recall and F1 from counts.
 *
 * @param {number} right
 * @param {number} nFound
 * @param {number} nGold
 */
export function scores(right, nFound, nGold) {
  const ratio = (part, whole) => (whole ? part / whole : 0);
  return {
    precision: ratio(right, nFound),
    recall: ratio(right, nGold),
    f1: ratio(2 * right, nFound + nGold),
  };
}
