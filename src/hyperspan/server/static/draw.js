/**
 * A sentence on the page: words that wrap with the window, and lanes of mentions under them.
 *
 * Words are hidden from screen readers, which get the sentence as one text and each mention as a button.
 */

import { make } from "./dom.js";
import { endOf, keyOf, layOut } from "./lanes.js";
import { measureIn } from "./measure.js";
import { cut, directions, visible } from "./text.js";

/** @typedef {import("./lanes.js").Mention} Mention */

/**
 * @typedef {object} Marked a mention with a mark and a note
 * @property {Mention} mention
 * @property {"" | "right" | "wrong" | "missed" | "new" | "gone" | "gold" | "rejected"} mark
 * @property {string} note
 */

const SIGNS = { right: "✓", wrong: "✗", missed: "○", new: "+", gone: "−", gold: "★", rejected: "⊘" };
const SAID = {
  right: "right",
  wrong: "wrong",
  missed: "missed",
  new: "new",
  gone: "no longer found",
  gold: "gold",
  rejected: "rejected",
};
const NAMED = { missed: "missed", new: "new", gone: "gone", gold: "gold", rejected: "rejected" };
const LONGEST_LABEL = 40;
const LABEL_ROOM = 9;
const LONGEST_TIED = 260;

/** @type {WeakMap<Element, any>} the mention that a cell of a lane belongs to */
const strokeOf = new WeakMap();

/**
 * Describe a mention in words.
 *
 * @param {Mention} mention
 * @param {Marked} [marked]
 */
export function titleOf(mention, marked) {
  const parts = mention.spans.length > 1 ? `, ${mention.spans.length} parts` : "";
  const prob = typeof mention.prob === "number" ? `, probability ${mention.prob.toFixed(2)}` : "";
  const said = marked?.mark ? `, ${SAID[marked.mark]}${marked.note ? `: ${marked.note} in the other column` : ""}` : "";
  return visible(`${mention.type}${parts}${prob}${said}: ${mention.text}`);
}

/**
 * Describe a mention in words that begin with its label.
 *
 * @param {Marked} marked
 */
function nameOf(marked) {
  const { mention } = marked;
  const parts = mention.spans.length > 1 ? `, ${mention.spans.length} parts` : "";
  return `${labelOf(marked)}${parts}: ${visible(mention.text)}`;
}

/** @param {Marked} marked */
function labelOf({ mention, mark, note }) {
  const prob = typeof mention.prob === "number" ? ` ${mention.prob.toFixed(2)}` : "";
  const said = [NAMED[mark], note].filter(Boolean).join(", ");
  const sign = mark ? `${SIGNS[mark]} ` : "";
  return `${sign}${cut(visible(mention.type), LONGEST_LABEL)}${prob}${said ? ` · ${said}` : ""}`;
}

/**
 * Draw a sentence with mentions.
 *
 * @param {{tokens: string[], blanks: boolean[], direction: "ltr" | "rtl"}} sentence
 * @param {Marked[]} marked
 * @param {(type: string) => number} colourOf
 * @param {Element} place where it will be inserted; its fonts are measured
 * @returns {HTMLElement}
 */
export function drawWords(sentence, marked, colourOf, place) {
  const shown = sentence.tokens.map((token) => visible(token) || "◌");
  const wordWidth = measureIn(place);
  const labelWidth = measureIn(labelProbe(place));
  const blank = wordWidth(" ");
  const columns = [0];
  shown.forEach((token, word) => columns.push(columns[word] + wordWidth(token) + (sentence.blanks[word] ? blank : 0)));
  const strokes = marked.map((item) => ({
    mention: item.mention,
    marked: item,
    label: labelOf(item),
    name: nameOf(item),
    again: `…${cut(visible(item.mention.type), LONGEST_LABEL)}`,
    key: keyOf(item.mention),
    againWidth: labelWidth(`…${cut(visible(item.mention.type), LONGEST_LABEL)}`) + LABEL_ROOM,
    title: titleOf(item.mention, item),
    colour: colourOf(item.mention.type),
  }));
  const base = sentence.direction === "rtl";
  const runs = directions(sentence.tokens, base);
  const against = runsAgainst(runs, base);
  const width = (label) => labelWidth(label) + LABEL_ROOM;
  const { cells, overhang } = layOut(shown.length, strokes, columns, width, against);
  const drawn = make("div", { class: against.length ? "words mixed" : "words", dir: sentence.direction, lang: "" });
  drawn.style.setProperty("--space", `${blank}px`);
  drawn.style.setProperty("--overhang", `${Math.ceil(Math.max(overhang, blank))}px`);
  const runEnds = new Map(against);
  const words = shown.map((token, word) => drawWord(token, word, cells[word], sentence.blanks[word], runEnds.get(word)));
  drawn.append(...inRuns(words, sentence, columns, runs));
  const first = drawn.querySelector("button");
  if (first) first.tabIndex = 0;
  return drawn;
}

/**
 * Fit drawings to their lines in the window. A line keeps only the lanes that it uses; a mention that continues from the
 * line before gets its label again; and a line ends with space for labels that would reach beyond it, but only if some
 * would, since the space makes lines shorter.
 *
 * @param {Iterable<HTMLElement>} drawings as `drawWords` makes them, on the page
 */
export function settle(drawings) {
  const all = [...drawings];
  for (const drawn of all) {
    drawn.classList.remove("roomy");
    for (const label of drawn.querySelectorAll(".label.from-before")) label.remove();
  }
  const tight = all.filter((drawn) => drawn.scrollWidth > drawn.clientWidth || reachesOut(drawn));
  for (const drawn of tight) drawn.classList.add("roomy");
  // Read everything before writing anything, so that the browser computes the layout once.
  const lanes = all.flatMap((drawn) => linesOf(drawn).flatMap((line) => lanesOf(line, drawn)));
  for (const { cells, unnamed } of lanes) {
    const isEmpty = cells.every((cell) => !cell.hasAttribute("data-mention"));
    for (const cell of cells) cell.classList.toggle("skip", isEmpty);
    for (const cell of unnamed) {
      const { again } = strokeOf.get(cell);
      cell.append(make("span", { class: "label again from-before", "aria-hidden": "true" }, make("bdi", {}, again)));
    }
  }
}

/**
 * Return each lane of a line: its cells, and those that need a label because their mention has none on this line and
 * space for one.
 *
 * @param {HTMLElement[]} line
 * @param {HTMLElement} drawn
 * @returns {{cells: Element[], unnamed: Element[]}[]}
 */
function lanesOf(line, drawn) {
  const columns = line.map((word) => [...word.querySelectorAll(":scope > .lane")]);
  const nLanes = Math.max(...columns.map((column) => column.length));
  return Array.from({ length: nLanes }, (_, number) => {
    const cells = columns.map((column) => column[number]).filter(Boolean);
    const unnamed = drawn.classList.contains("mixed") ? [] : unnamedOf(cells, drawn);
    return { cells, unnamed };
  });
}

/**
 * @param {Element[]} cells
 * @param {HTMLElement} drawn
 */
function unnamedOf(cells, drawn) {
  /** @type {{stroke: object, cells: Element[]}[]} */
  const pieces = [];
  for (const cell of cells.filter((cell) => strokeOf.has(cell))) {
    const stroke = strokeOf.get(cell);
    if (pieces.at(-1)?.stroke === stroke) pieces.at(-1).cells.push(cell);
    else pieces.push({ stroke, cells: [cell] });
  }
  const isRight = drawn.dir === "rtl";
  const startOf = (cell) => {
    const { offsetLeft, offsetWidth } = cell.parentElement;
    return isRight ? -(offsetLeft + offsetWidth) : offsetLeft;
  };
  const end = isRight ? -drawn.offsetLeft : drawn.offsetLeft + drawn.offsetWidth;
  return pieces.flatMap(({ stroke, cells }, index) => {
    const bar = cells.find((cell) => cell.classList.contains("bar"));
    if (!bar || cells.some((cell) => cell.querySelector(".label"))) return [];
    const room = (index + 1 < pieces.length ? startOf(pieces[index + 1].cells[0]) : end) - startOf(bar);
    return stroke.againWidth <= room ? [bar] : [];
  });
}

/**
 * Return the words of each line.
 *
 * @param {HTMLElement} drawn
 * @returns {HTMLElement[][]}
 */
function linesOf(drawn) {
  /** @type {Map<number, HTMLElement[]>} */
  const lines = new Map();
  for (const word of /** @type {NodeListOf<HTMLElement>} */ (drawn.querySelectorAll(".word"))) {
    const top = word.offsetTop;
    if (!lines.has(top)) lines.set(top, []);
    lines.get(top).push(word);
  }
  return [...lines.values()];
}

/**
 * Return whether a label reaches beyond the start of a drawing, as those of words against its direction may.
 *
 * @param {HTMLElement} drawn
 */
function reachesOut(drawn) {
  if (!drawn.classList.contains("mixed")) return false;
  const { left, right } = drawn.getBoundingClientRect();
  return [...drawn.querySelectorAll(".label")].some((label) => {
    const box = label.getBoundingClientRect();
    return box.left < left - 3 || box.right > right + 3;
  });
}

/**
 * Return the half-open runs of words against a sentence's direction.
 *
 * @param {boolean[]} runs
 * @param {boolean} base
 * @returns {[number, number][]}
 */
function runsAgainst(runs, base) {
  /** @type {[number, number][]} */
  const against = [];
  runs.forEach((direction, word) => {
    if (direction === base) return;
    if (against.at(-1)?.[1] === word) against.at(-1)[1]++;
    else against.push([word, word + 1]);
  });
  return against;
}

/**
 * Arrange words: those against the sentence's direction form separate runs, and those without a blank between them stay
 * together.
 *
 * @param {HTMLElement[]} words
 * @param {{tokens: string[], blanks: boolean[], direction: "ltr" | "rtl"}} sentence
 * @param {number[]} columns
 * @param {boolean[]} runs whether each word runs right to left
 * @returns {(Node | string)[]}
 */
function inRuns(words, sentence, columns, runs) {
  const base = sentence.direction === "rtl";
  /** @type {(Node | string)[]} */
  const pieces = [];
  /** @type {HTMLElement | null} */
  let run = null;
  for (let first = 0; first < words.length; ) {
    let last = first + 1;
    while (last < words.length && !sentence.blanks[last - 1] && runs[last] === runs[first]) last++;
    const isTied = last - first > 1 && columns[last] - columns[first] <= LONGEST_TIED;
    const group = isTied ? [make("span", { class: "tied" }, ...words.slice(first, last))] : words.slice(first, last);
    const isOther = runs[first] !== base;
    if (isOther && !run) pieces.push((run = make("span", { dir: runs[first] ? "rtl" : "ltr" })));
    if (isOther) run.append(...group);
    else pieces.push(...group);
    const staysOther = isOther && last < words.length && runs[last] === runs[first];
    if (isOther && !staysOther) words[last - 1].classList.add("edge");
    if (sentence.blanks[last - 1]) {
      if (staysOther) run.append(" ");
      else pieces.push(" ");
    }
    if (!staysOther) run = null;
    first = last;
  }
  return pieces;
}

/**
 * @param {string} token
 * @param {number} word
 * @param {(import("./lanes.js").Cell | null)[]} cells
 * @param {boolean} hasBlank whether a blank follows
 * @param {number} [runEnd] the end of the run against the sentence's direction that starts here; what continues after it
 *   is on the near side of this word
 */
function drawWord(token, word, cells, hasBlank, runEnd = Infinity) {
  const element = make("span", { class: hasBlank ? "word" : "word glued", "data-word": word });
  element.append(make("bdi", { class: "token", "aria-hidden": "true" }, token));
  for (const cell of cells) {
    const lane = cell ? drawCell(cell) : make("span", { class: "lane" });
    if (cell && endOf(cell.stroke.mention) > runEnd) lane.classList.add("reach");
    element.append(lane);
  }
  return element;
}

/** @param {any} cell */
function drawCell(cell) {
  const { stroke } = cell;
  const classes = ["lane", cell.kind, `hs-c${stroke.colour}`];
  if (cell.isFirst) classes.push("first");
  if (cell.isLast) classes.push("last");
  if (cell.goesOn) classes.push("on");
  if (stroke.marked.mark) classes.push(`is-${stroke.marked.mark}`);
  const element = make("span", { class: classes.join(" "), "data-mention": stroke.key, title: stroke.title });
  strokeOf.set(element, stroke);
  const { prob } = stroke.mention;
  const weight = typeof prob === "number" ? Math.min(1, Math.max(0, prob)) : 1;
  element.style.setProperty("--weight", weight.toFixed(3));
  element.style.setProperty("--thick", `${Math.round(2 + 5 * weight)}px`);
  if (!cell.label) return element;
  if (cell.label === stroke.label) {
    element.append(
      make(
        "button",
        { type: "button", class: "label", tabindex: -1, "aria-label": stroke.name },
        make("bdi", {}, cell.label),
      ),
    );
  } else {
    element.append(make("span", { class: "label again", "aria-hidden": "true" }, make("bdi", {}, cell.label)));
  }
  return element;
}

/** @type {HTMLElement | null} */
let probe = null;

/**
 * Return an element with the style of labels.
 *
 * @param {Element} place
 */
function labelProbe(place) {
  if (!probe) probe = make("span", { class: "label probe", "aria-hidden": "true" });
  if (!probe.isConnected) (place.closest(".hs-root") ?? document.body).append(probe);
  return probe;
}
