/** Which mentions of a sentence are drawn when there are too many: the most probable, up to a number of lanes. */

import { endOf, startOf } from "./lanes.js";

/** @typedef {import("./draw.js").Marked} Marked */

/** The maximum number of mentions at one word. */
export const MOST_LANES = 6;

/**
 * Split mentions into those that are drawn, and less probable ones that would need more lanes. Mentions that the user has
 * accepted or rejected are always drawn.
 *
 * @param {Marked[]} marked
 * @param {number} nWords
 * @param {number} [most]
 * @returns {{drawn: Marked[], rest: Marked[]}} each in the order given
 */
export function capped(marked, nWords, most = MOST_LANES) {
  const depth = new Uint16Array(nWords);
  const kept = new Set();
  const weight = ({ mention, mark }) => (mark === "gold" || mark === "rejected" ? 2 : (mention.prob ?? 1));
  for (const item of [...marked].sort((one, other) => weight(other) - weight(one))) {
    const [start, end] = [startOf(item.mention), endOf(item.mention)];
    if (weight(item) < 2 && depth.subarray(start, end).some((lanes) => lanes >= most)) continue;
    for (let word = start; word < end; word++) depth[word]++;
    kept.add(item);
  }
  return { drawn: marked.filter((item) => kept.has(item)), rest: marked.filter((item) => !kept.has(item)) };
}
