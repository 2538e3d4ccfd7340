/**
 * The words of a sentence as switches: those that are on form a mention. Users set them by clicking, by dragging, or with
 * the keyboard: arrow keys go from word to word, with Shift they also add words, Space and Enter toggle one.
 */

import { make } from "./dom.js";
import { visible } from "./text.js";

/**
 * Turn words into spans: half-open runs of neighbours.
 *
 * @param {Iterable<number>} words
 * @returns {[number, number][]}
 */
export function spansOf(words) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const word of [...new Set(words)].sort((one, other) => one - other)) {
    if (spans.at(-1)?.[1] === word) spans.at(-1)[1]++;
    else spans.push([word, word + 1]);
  }
  return spans;
}

/** @param {[number, number][]} spans */
export function wordsOf(spans) {
  return spans.flatMap(([start, end]) => Array.from({ length: end - start }, (_, at) => start + at));
}

/**
 * @param {{tokens: string[], direction: string}} sentence
 * @param {Iterable<number>} chosen
 * @param {(words: Set<number>) => void} onChange
 * @returns {{element: HTMLElement, words: Set<number>, toggle: (words: number[]) => void, focus: () => void}}
 */
export function wordSwitches(sentence, chosen, onChange) {
  const words = new Set(chosen);
  const buttons = sentence.tokens.map((token, word) =>
    make("button", { type: "button", class: "switch-word", "data-word": word, tabindex: -1 }, visible(token) || "◌"),
  );
  const element = make(
    "div",
    { class: "switch-words", role: "group", "aria-label": "Words of the mention", dir: sentence.direction, lang: "" },
    ...buttons,
  );
  const show = () => {
    buttons.forEach((button, word) => button.setAttribute("aria-pressed", String(words.has(word))));
    onChange(words);
  };
  const set = (word, isOn) => {
    if (words.has(word) === isOn) return;
    if (isOn) words.add(word);
    else words.delete(word);
    show();
  };
  const focus = (word) => {
    for (const button of buttons) button.tabIndex = -1;
    buttons[word].tabIndex = 0;
    buttons[word].focus();
  };
  const wordAt = (target) => {
    const button = target instanceof Element ? target.closest(".switch-word") : null;
    return button && element.contains(button) ? Number(button.getAttribute("data-word")) : -1;
  };

  /** @type {boolean | null} whether dragging switches words on or off; null if there is no drag */
  let painting = null;
  let last = 0;
  element.addEventListener("pointerdown", (event) => {
    const word = wordAt(event.target);
    if (word < 0 || event.button !== 0) return;
    event.preventDefault();
    painting = !words.has(word);
    last = word;
    set(word, painting);
    focus(word);
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (painting === null) return;
    const word = wordAt(document.elementFromPoint(event.clientX, event.clientY));
    if (word < 0) return;
    // A fast pointer skips words.
    for (let at = Math.min(last, word); at <= Math.max(last, word); at++) set(at, painting);
    last = word;
  });
  for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => (painting = null));
  element.addEventListener("keydown", (event) => {
    const at = wordAt(event.target);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const isRight = sentence.direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const isLeft = isRight === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
    const next = { [isRight]: at + 1, [isLeft]: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === " " || event.key === "Enter") set(at, !words.has(at));
    else if (next === undefined || next < 0 || next >= buttons.length) return;
    else {
      if (event.shiftKey) [at, next].forEach((word) => set(word, true));
      focus(next);
    }
    event.preventDefault();
  });
  buttons[Math.min(...words, buttons.length - 1)].tabIndex = 0;
  show();
  return {
    element,
    words,
    toggle: (others) => {
      const isOn = !others.every((word) => words.has(word));
      for (const word of others) set(word, isOn);
    },
    focus: () => focus(Math.min(...words, buttons.length - 1)),
  };
}
