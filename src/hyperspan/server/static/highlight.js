/**
 * Highlight a mention everywhere it is drawn: its words, its lane, its counterpart in the gold column, its path in the
 * hypergraph.
 *
 * The pointer or the keyboard focus highlights it; a click or Enter selects it and notifies the listener; Escape deselects
 * it. Left and right go from mention to mention, up and down from sentence to sentence.
 */

import { get } from "./dom.js";

/**
 * @param {HTMLElement} list holds the sentences, elements with the class `sentence`
 * @param {(sentence: HTMLElement) => void} draw draws a sentence that has not been drawn yet
 * @param {(held: {sentence: Element, key: string} | null) => void} onHold called with the mention that the user has selected
 */
export function lightMentions(list, draw, onHold) {
  const tip = get("tip");
  /** @type {{sentence: Element, key: string} | null} */
  let lit = null;
  /** @type {{sentence: Element, key: string} | null} */
  let held = null;

  /** @param {{sentence: Element, key: string} | null} next */
  function light(next) {
    next ??= held?.sentence.isConnected ? held : null;
    if (next?.sentence === lit?.sentence && next?.key === lit?.key && next?.sentence.querySelector(".lit")) return;
    if (lit) unlight(lit.sentence);
    lit = next;
    tip.hidden = !next;
    if (!next) return;
    next.sentence.classList.add("has-lit");
    let title = "";
    for (const cell of next.sentence.querySelectorAll("[data-mention]")) {
      if (cell.getAttribute("data-mention") !== next.key) continue;
      cell.classList.add("lit");
      title ||= cell.getAttribute("title") ?? "";
      if (!cell.classList.contains("bar")) continue;
      const colour = [...cell.classList].find((name) => /^hs-c\d$/.test(name));
      const token = cell.parentElement.querySelector(".token");
      token.classList.add("lit", colour);
    }
    next.sentence.dispatchEvent(new CustomEvent("lit", { detail: next.key }));
    tip.textContent = title;
    tip.hidden = !title;
  }

  /** @param {Element} sentence */
  function unlight(sentence) {
    sentence.classList.remove("has-lit");
    for (const element of sentence.querySelectorAll(".lit")) {
      element.classList.remove("lit");
      if (element.classList.contains("token")) element.className = "token";
    }
    sentence.dispatchEvent(new CustomEvent("lit", { detail: null }));
  }

  /** @param {EventTarget | null} target */
  function mentionAt(target) {
    const cell = target instanceof Element ? target.closest("[data-mention]") : null;
    const sentence = cell?.closest(".sentence");
    return sentence ? { sentence, key: cell.getAttribute("data-mention") } : null;
  }

  /** @param {{sentence: Element, key: string} | null} next */
  function hold(next) {
    for (const button of list.querySelectorAll('.label[aria-pressed="true"]')) button.removeAttribute("aria-pressed");
    held = next;
    if (!next) return;
    for (const cell of next.sentence.querySelectorAll("[data-mention]")) {
      if (cell.getAttribute("data-mention") !== next.key) continue;
      cell.querySelector("button")?.setAttribute("aria-pressed", "true");
    }
  }

  /** The mention with the keyboard focus. */
  function focused() {
    return document.activeElement?.matches(":focus-visible") ? mentionAt(document.activeElement) : null;
  }

  list.addEventListener("pointerover", (event) => light(mentionAt(event.target) ?? focused()));
  list.addEventListener("pointerleave", () => light(focused()));
  list.addEventListener("focusin", (event) => light(mentionAt(event.target)));
  list.addEventListener("focusout", (event) => light(mentionAt(event.relatedTarget)));
  list.addEventListener("click", (event) => {
    const mention = mentionAt(event.target);
    if (!mention) return;
    const isHeld = held?.sentence === mention.sentence && held?.key === mention.key;
    hold(isHeld ? null : mention);
    light(mention);
    onHold(held);
  });

  list.addEventListener("keydown", (event) => {
    const label = event.target instanceof Element ? event.target.closest("button.label") : null;
    if (!label || event.altKey || event.ctrlKey || event.metaKey) return;
    const sentence = /** @type {HTMLElement} */ (label.closest(".sentence"));
    const labels = /** @type {HTMLElement[]} */ ([...sentence.querySelectorAll("button.label")]);
    const isRight = label.closest("[dir]").getAttribute("dir") === "rtl" ? "ArrowLeft" : "ArrowRight";
    const isLeft = isRight === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
    const at = labels.indexOf(/** @type {HTMLElement} */ (label));
    let next = null;
    if (event.key === isRight) next = labels[at + 1] ?? beside(sentence, 1)?.[0];
    else if (event.key === isLeft) next = labels[at - 1] ?? beside(sentence, -1)?.at(-1);
    else if (event.key === "ArrowDown") next = beside(sentence, 1)?.[0];
    else if (event.key === "ArrowUp") next = beside(sentence, -1)?.[0];
    else if (event.key === "Home") next = labels[0];
    else if (event.key === "End") next = labels.at(-1);
    else return;
    event.preventDefault();
    next?.focus();
  });

  // The Tab key returns to the mention that had the focus last.
  list.addEventListener("focusin", (event) => {
    const label = event.target instanceof Element ? event.target.closest("button.label") : null;
    if (!label) return;
    for (const other of label.closest(".words").querySelectorAll('button.label[tabindex="0"]')) {
      other.setAttribute("tabindex", "-1");
    }
    label.setAttribute("tabindex", "0");
  });

  /**
   * Return the labels of the next sentence that has any.
   *
   * @param {Element} sentence
   * @param {1 | -1} step
   * @returns {HTMLElement[] | null}
   */
  function beside(sentence, step) {
    const next = (element) => (step > 0 ? element.nextElementSibling : element.previousElementSibling);
    for (let other = next(sentence); other; other = next(other)) {
      if (other.hidden) continue;
      draw(other);
      const labels = [...other.querySelectorAll("button.label")];
      if (labels.length) return labels;
    }
    return null;
  }

  return {
    /** Clear highlight and selection, as when everything is redrawn. */
    clear() {
      hold(null);
      light(null);
    },

    /**
     * Hold a mention, after a sentence was drawn anew.
     *
     * @param {Element} sentence
     * @param {string} key
     */
    hold(sentence, key) {
      hold({ sentence, key });
      light({ sentence, key });
    },

    /** Deselect the mention; the focus returns to it, unless the user has moved elsewhere. */
    release() {
      if (!held) return;
      const { sentence, key } = held;
      hold(null);
      const isHere = document.activeElement === document.body || list.contains(document.activeElement);
      const cells = [...sentence.querySelectorAll("[data-mention]")].filter((cell) => cell.querySelector("button"));
      if (isHere) cells.find((cell) => cell.getAttribute("data-mention") === key)?.querySelector("button").focus();
      light(focused());
    },
  };
}
