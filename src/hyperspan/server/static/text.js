/**
 * Text as people see it and as the server counts it.
 *
 * The server counts Unicode code points, JavaScript UTF-16 units: `CodePoints` converts between them. Characters that are
 * invisible, or that control the direction of text, are replaced by a visible sign before they reach the page.
 */

const HIDDEN = /[^\P{C}\u200c\u200d]|[^\P{Z} ]/gu;
const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LONGEST_NAME = 200;

/**
 * Replace every character that is invisible, or that controls the direction of text, by a visible sign.
 *
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text.replace(HIDDEN, sign);
}

/** @param {string} character */
function sign(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return /\p{Zs}/u.test(character) ? "␣" : "\ufffd";
}

/**
 * Shorten a long text.
 *
 * @param {string} text
 * @param {number} [longest]
 */
export function cut(text, longest = LONGEST_NAME) {
  const characters = [...text];
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join("")}…`;
}

/** A text that is addressed by code points. */
export class CodePoints {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {Uint32Array | null} where each code point starts, if some take two units */
    this.starts = null;
    if (/[\ud800-\udbff][\udc00-\udfff]/.test(text)) {
      const starts = new Uint32Array(text.length + 1);
      let count = 0;
      for (let unit = 0; unit < text.length; unit += text.codePointAt(unit) > 0xffff ? 2 : 1) starts[count++] = unit;
      starts[count] = text.length;
      this.starts = starts.subarray(0, count + 1);
    }
  }

  /** The number of code points. */
  get length() {
    return this.starts ? this.starts.length - 1 : this.text.length;
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  slice(start, end) {
    if (!this.starts) return this.text.slice(start, end);
    const last = this.length;
    return this.text.slice(this.starts[Math.min(start, last)], this.starts[Math.min(end, last)]);
  }
}

/**
 * Return whether the first letter of a text belongs to a right-to-left script; null if there is no letter.
 *
 * @param {string} text
 * @returns {boolean | null}
 */
export function runsRightToLeft(text) {
  const letter = LETTER.exec(text);
  return letter ? RIGHT_TO_LEFT.test(letter[0]) : null;
}

/**
 * Return, for each word, whether it runs right to left. A word without letters follows its neighbours if they agree, else
 * the sentence.
 *
 * @param {string[]} tokens
 * @param {boolean} base whether the sentence as a whole runs right to left
 * @returns {boolean[]}
 */
export function directions(tokens, base) {
  const own = tokens.map(runsRightToLeft);
  const before = filled(own, base);
  const after = filled(own.reverse(), base).reverse();
  return before.map((direction, word) => (direction === after[word] ? direction : base));
}

/**
 * @param {(boolean | null)[]} own
 * @param {boolean} base
 */
function filled(own, base) {
  let last = base;
  return own.map((direction) => (last = direction ?? last));
}

/**
 * Format a number with a noun: `counted(1, "mention")` is "1 mention".
 *
 * @param {number} count
 * @param {string} what
 */
export function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}
