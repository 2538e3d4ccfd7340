/**
 * Lanes under a sentence: each mention is on one lane, and no two mentions overlap on it.
 *
 * Everything here is arithmetic; nothing touches the page. Positions are columns along the sentence as if it were on one
 * line. When the window breaks the line, words take the pieces of their lanes along.
 */

/**
 * @typedef {object} Mention
 * @property {string} type
 * @property {[number, number][]} spans half-open ranges of words
 * @property {string} text
 * @property {number | null} [prob]
 * @property {boolean} [isOwn] added by the user
 */

/**
 * @typedef {object} Stroke how to draw a mention
 * @property {Mention} mention
 * @property {string} label the text below its first part
 * @property {string} again the text below its other parts
 */

/** @param {Mention} mention */
export const startOf = (mention) => mention.spans[0][0];

/** @param {Mention} mention */
export const endOf = (mention) => mention.spans[mention.spans.length - 1][1];

/**
 * Return a key that equal mentions share: type and parts.
 *
 * @param {Mention} mention
 */
export function keyOf(mention) {
  return `${mention.spans.map((span) => span.join("-")).join("+")} ${mention.type}`;
}

/**
 * Sort by parts, then by type.
 *
 * @param {Mention} one
 * @param {Mention} other
 */
export function byPlace(one, other) {
  const left = one.spans.flat();
  const right = other.spans.flat();
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    if (left[index] !== right[index]) return left[index] - right[index];
  }
  return left.length - right.length || (one.type < other.type ? -1 : one.type > other.type ? 1 : 0);
}

/**
 * Place items on as few lanes as a greedy rule finds: the longest first, each on the first lane with space.
 *
 * @template {{mention: Mention}} Item
 * @param {Item[]} items
 * @param {(item: Item) => [number, number]} extent the columns that an item takes, with its label
 * @returns {Item[][]}
 */
export function layLanes(items, extent) {
  const length = (item) => endOf(item.mention) - startOf(item.mention);
  const sorted = [...items].sort((one, other) => length(other) - length(one) || byPlace(one.mention, other.mention));
  /** @type {{items: Item[], taken: [number, number][]}[]} */
  const lanes = [];
  for (const item of sorted) {
    const [start, end] = extent(item);
    let lane = lanes.find((lane) => lane.taken.every((other) => other[1] <= start || end <= other[0]));
    if (!lane) lanes.push((lane = { items: [], taken: [] }));
    lane.items.push(item);
    lane.taken.push([start, end]);
  }
  return lanes.map((lane) => lane.items.sort((one, other) => byPlace(one.mention, other.mention)));
}

/**
 * Return the words that carry a label of a mention: the first word of its first part has the full label, those of other
 * parts have the short one if there is space for it.
 *
 * @param {Stroke} stroke
 * @param {number[]} columns where each word starts, and finally where the last word ends
 * @param {(label: string) => number} width
 * @returns {Map<number, string>}
 */
export function labelsOf(stroke, columns, width) {
  const { spans } = stroke.mention;
  const labels = new Map([[spans[0][0], stroke.label]]);
  for (let part = 1; part < spans.length; part++) {
    const start = spans[part][0];
    const isFree = columns[spans[part - 1][0]] + width(labels.get(spans[part - 1][0]) ?? "") <= columns[start];
    const hasRoom = part + 1 === spans.length || columns[start] + width(stroke.again) <= columns[spans[part + 1][0]];
    if (isFree && hasRoom) labels.set(start, stroke.again);
  }
  return labels;
}

/**
 * @typedef {object} Cell a piece of a lane under one word
 * @property {Stroke} stroke
 * @property {"bar" | "gap"} kind
 * @property {boolean} isFirst a part begins here
 * @property {boolean} isLast a part ends here
 * @property {boolean} goesOn whether the mention continues under the next word
 * @property {string} label
 */

/**
 * Lay out a sentence.
 *
 * @param {number} nWords
 * @param {Stroke[]} strokes
 * @param {number[]} columns where each word starts, and finally where the last word ends
 * @param {(label: string) => number} width how wide a label is
 * @param {[number, number][]} [against] half-open runs of words against the sentence's direction
 * @returns {{cells: (Cell | null)[][], overhang: number}} the cells under each word, lane by lane; and
 *   how far a label may reach beyond its word if the line breaks after that word
 */
export function layOut(nWords, strokes, columns, width, against = []) {
  // With mixed directions, the positions of further labels are unknown until the lines are broken.
  const labels = new Map(
    strokes.map((stroke) => [
      stroke,
      against.length ? new Map([[startOf(stroke.mention), stroke.label]]) : labelsOf(stroke, columns, width),
    ]),
  );
  const lanes = layLanes(strokes, (stroke) => {
    const ends = [...labels.get(stroke)].map(([word, label]) => columns[word] + width(label));
    const end = Math.max(columns[endOf(stroke.mention)], ...ends);
    return mirrored(stroke, columns[startOf(stroke.mention)], end, columns, width, against);
  });
  /** @type {(Cell | null)[][]} */
  const cells = Array.from({ length: nWords }, () => []);
  let overhang = 0;
  lanes.forEach((lane, number) => {
    for (const stroke of lane) {
      for (const cell of cellsOf(stroke, labels.get(stroke))) {
        const column = cells[cell.word];
        while (column.length < number) column.push(null);
        column.push(cell);
        if (cell.label) {
          const room = columns[cell.word + 1] - columns[cell.word];
          overhang = Math.max(overhang, width(cell.label) - room);
        }
      }
    }
  });
  return { cells, overhang };
}

/**
 * Widen the columns of a mention where words run the other way: there its labels grow backwards, and those of its
 * neighbours reach to the far end of the run. A mention that touches such a run takes all of it.
 *
 * @param {Stroke} stroke
 * @param {number} start
 * @param {number} end
 * @param {number[]} columns
 * @param {(label: string) => number} width
 * @param {[number, number][]} against
 * @returns {[number, number]}
 */
function mirrored(stroke, start, end, columns, width, against) {
  let [from, to] = [start, end];
  for (const [first, last] of against) {
    if (columns[last] <= start || end <= columns[first]) continue;
    const isInside = stroke.mention.spans.some((span) => span[0] < last && first < span[1]);
    from = Math.min(from, columns[first] - (isInside ? width(stroke.label) : 0));
    to = Math.max(to, columns[last]);
  }
  return [from, to];
}

/**
 * @param {Stroke} stroke
 * @param {Map<number, string>} labels
 * @returns {(Cell & {word: number})[]}
 */
function cellsOf(stroke, labels) {
  const { spans } = stroke.mention;
  const cells = [];
  spans.forEach(([start, end], part) => {
    const isLastPart = part + 1 === spans.length;
    for (let word = start; word < end; word++) {
      cells.push({
        word,
        stroke,
        kind: "bar",
        isFirst: word === start,
        isLast: word + 1 === end,
        goesOn: word + 1 < end || !isLastPart,
        label: labels.get(word) ?? "",
      });
    }
    for (let word = end; !isLastPart && word < spans[part + 1][0]; word++) {
      cells.push({ word, stroke, kind: "gap", isFirst: false, isLast: false, goesOn: true, label: "" });
    }
  });
  return cells;
}
