/**
 * The panel below a sentence, where the user inspects and corrects a mention. Corrections are gold: they stay with the
 * document and are part of its files.
 */

import { get, make } from "./dom.js";
import { keyOf } from "./lanes.js";
import { accept, forget, reject, textOf } from "./state.js";
import { cut, visible } from "./text.js";
import { showReasons } from "./why.js";
import { spansOf, wordSwitches, wordsOf } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Sentence} Sentence */
/** @typedef {import("./lanes.js").Mention} Mention */

export class Panel {
  /**
   * @param {State} state
   * @param {import("./results.js").Results} results
   * @param {{onChange: (said: string) => void, onClose: () => void, onMove: (item: Element, key: string) => void}} listeners
   *   called after a correction, after closing, and when another mention is opened
   */
  constructor(state, results, listeners) {
    this.state = state;
    this.results = results;
    this.listeners = listeners;
    /** @type {HTMLElement | null} */
    this.element = null;
    /** @type {Element | null} */
    this.item = null;
    /** @type {Mention | null} */
    this.mention = null;
    /** @type {ReturnType<typeof wordSwitches> | null} */
    this.switches = null;
    /** The type of the last new mention. */
    this.lastType = "";
  }

  /** Remove the panel. */
  close() {
    this.element?.remove();
    this.element = this.item = this.mention = this.switches = null;
  }

  /**
   * Open a mention.
   *
   * @param {Element} item
   * @param {string} key
   */
  open(item, key) {
    const sentence = this.results.sentenceOf(item);
    const mention = sentence && this.#mentionOf(sentence, key);
    if (!mention) return;
    if (this.item === item && this.mention && keyOf(this.mention) === key) return;
    this.#show(item, sentence, mention);
  }

  /**
   * Start a new mention.
   *
   * @param {Element} item
   * @param {number[]} [words] its initial words
   */
  create(item, words = []) {
    const sentence = this.results.sentenceOf(item);
    if (!sentence) return;
    this.#place(item, "New mention");
    this.mention = null;
    this.#edit(sentence, null, words);
  }

  /**
   * Add words to the mention that is being edited, or remove them; start a new one if none is.
   *
   * @param {Element} item
   * @param {number[]} words
   */
  drag(item, words) {
    if (this.item === item && this.switches) this.switches.toggle(words);
    else if (this.item === item && this.mention) {
      const sentence = this.results.sentenceOf(item);
      this.#edit(sentence, this.mention, wordsOf(this.mention.spans));
      this.switches.toggle(words);
    } else this.create(item, words);
  }

  /**
   * Do what the buttons do, from the keyboard.
   *
   * @param {Element} item
   * @param {string} key of the mention
   * @param {"accept" | "reject" | "edit"} what
   */
  act(item, key, what) {
    const sentence = this.results.sentenceOf(item);
    const mention = sentence && this.#mentionOf(sentence, key);
    if (!mention) return;
    if (what === "edit") {
      this.#show(item, sentence, mention);
      this.#edit(sentence, mention, wordsOf(mention.spans));
    } else this.#say(item, sentence, mention, what);
  }

  /**
   * @param {Sentence} sentence
   * @param {string} key
   * @returns {Mention | null}
   */
  #mentionOf(sentence, key) {
    const known = [
      ...sentence.accepted,
      ...sentence.rejected,
      ...sentence.candidates,
      ...Object.values(sentence.readings).flat(),
      ...(sentence.gold ?? []),
    ];
    return known.find((mention) => keyOf(mention) === key) ?? null;
  }

  /**
   * @param {Element} item
   * @param {string} label
   */
  #place(item, label) {
    this.close();
    this.item = item;
    this.element = make("section", { class: "panel", "aria-label": label });
    item.append(this.element);
    return this.element;
  }

  /**
   * @param {Element} item
   * @param {Sentence} sentence
   * @param {Mention} mention
   */
  #show(item, sentence, mention) {
    const text = visible(cut(mention.text || textOf(sentence, mention), 200));
    const panel = this.#place(item, `${visible(mention.type)} ‘${text}’`);
    this.mention = mention;
    const reasons = make("div", { class: "why" });
    panel.append(
      this.#head(make("bdi", { class: `hs-c${this.state.colourOf(mention.type)}` }, visible(mention.type)), ` ‘${text}’`),
      this.#actions(item, sentence, mention),
      reasons,
    );
    showReasons(reasons, this.state, sentence, mention, (other) => {
      this.listeners.onMove(item, keyOf(other));
      this.#show(item, sentence, other);
      this.element?.querySelector("button")?.focus();
    });
  }

  /** @param {...(Node | string)} title */
  #head(...title) {
    const close = make("button", { type: "button", class: "quiet close", "aria-label": "Close (Escape)" }, "×");
    close.addEventListener("click", () => this.listeners.onClose());
    return make("div", { class: "panel-head" }, make("h2", {}, ...title), close);
  }

  /**
   * @param {Element} item
   * @param {Sentence} sentence
   * @param {Mention} mention
   */
  #actions(item, sentence, mention) {
    const key = keyOf(mention);
    const said = sentence.accepted.some((other) => keyOf(other) === key)
      ? "accept"
      : sentence.rejected.some((other) => keyOf(other) === key)
        ? "reject"
        : "";
    const button = (text, what, shortcut, isOn) => {
      const attributes = { type: "button", "aria-keyshortcuts": shortcut, "aria-pressed": isOn === undefined ? null : String(isOn) };
      const element = make("button", attributes, text, " ", make("kbd", { "aria-hidden": "true" }, shortcut));
      element.addEventListener("click", () => what());
      return element;
    };
    return make(
      "div",
      { class: "row actions", role: "group", "aria-label": "Correct this mention" },
      button("★ Accept", () => this.#say(item, sentence, mention, said === "accept" ? "forget" : "accept"), "a", said === "accept"),
      button("⊘ Reject", () => this.#say(item, sentence, mention, said === "reject" ? "forget" : "reject"), "r", said === "reject"),
      this.#typeChoice(mention.type, (type) => this.#replace(item, sentence, mention, { type, spans: mention.spans })),
      button("Change words", () => this.#edit(sentence, mention, wordsOf(mention.spans)), "e"),
    );
  }

  /**
   * @param {string} type
   * @param {(type: string) => void} onType
   */
  #typeChoice(type, onType) {
    const types = [...new Set([...this.state.types(), ...this.state.colours.numbers.keys(), type])].filter(Boolean);
    const select = make("select", {}, ...types.map((name) => make("option", { value: name }, visible(cut(name, 60)))));
    select.value = type;
    select.addEventListener("change", () => onType(select.value));
    return make("label", { class: "field" }, "Type ", select);
  }

  /**
   * @param {Sentence} sentence
   * @param {Mention | null} old null for a new mention
   * @param {number[]} words
   */
  #edit(sentence, old, words) {
    const { element, item } = this;
    element.querySelector(".editor")?.remove();
    let type = old?.type ?? (this.lastType || this.#likelyType(sentence));
    const save = make("button", { type: "button", class: "primary" }, old ? "Save" : "Add");
    const said = make("span", { class: "note", role: "status" });
    const switches = wordSwitches(sentence, words, (chosen) => {
      const spans = spansOf(chosen);
      save.disabled = !spans.length;
      said.textContent = spans.length ? `‘${visible(cut(textOf(sentence, { spans }), 200))}’` : "Choose at least one word.";
    });
    this.switches = switches;
    save.addEventListener("click", () => {
      this.lastType = type;
      this.#replace(item, sentence, old, { type, spans: spansOf(switches.words) });
    });
    const cancel = make("button", { type: "button" }, "Cancel");
    cancel.addEventListener("click", () => (old ? this.#stopEditing() : this.listeners.onClose()));
    const editor = make(
      "div",
      { class: "editor" },
      make("p", { class: "note" }, "Click words or drag over them. With the keyboard: arrow keys, Space, and Shift with an arrow key."),
      switches.element,
      make("div", { class: "row" }, old ? null : this.#typeChoice(type, (chosen) => (type = chosen)), save, cancel, said),
    );
    if (old) element.querySelector(".actions").after(editor);
    else element.append(this.#head("New mention"), editor);
    switches.focus();
  }

  /**
   * Return the type with the most expected mentions in a sentence.
   *
   * @param {Sentence} sentence
   */
  #likelyType({ candidates }) {
    const types = this.state.types();
    const expected = (type) => candidates.reduce((sum, mention) => sum + (mention.type === type ? mention.prob : 0), 0);
    return types.reduce((best, type) => (expected(type) > expected(best) ? type : best), types[0] ?? "");
  }

  #stopEditing() {
    this.element?.querySelector(".editor")?.remove();
    this.switches = null;
    this.element?.querySelector(".actions button")?.focus();
  }

  /**
   * @param {Element} item
   * @param {Sentence} sentence
   * @param {Mention} mention
   * @param {"accept" | "reject" | "forget"} what
   */
  #say(item, sentence, mention, what) {
    if (what === "accept") accept(sentence, mention);
    else if (what === "reject") reject(sentence, mention);
    else forget(sentence, mention);
    const done = { accept: "Accepted", reject: "Rejected", forget: "Undone" }[what];
    this.#changed(item, sentence, what === "accept" || !mention.isOwn ? mention : null, done);
  }

  /**
   * Replace a mention by another.
   *
   * @param {Element} item
   * @param {Sentence} sentence
   * @param {Mention | null} old
   * @param {{type: string, spans: [number, number][]}} changed
   */
  #replace(item, sentence, old, changed) {
    const key = keyOf(/** @type {any} */ (changed));
    const known = this.#mentionOf(sentence, key);
    const mention = known ?? { ...changed, text: textOf(sentence, changed), prob: null, isOwn: true };
    if (old && keyOf(old) !== key) reject(sentence, old);
    accept(sentence, mention);
    this.#changed(item, sentence, mention, old ? "Changed" : "Added");
  }

  /**
   * @param {Element} item
   * @param {Sentence} sentence
   * @param {Mention | null} mention the mention that is open now
   * @param {string} done
   */
  #changed(item, sentence, mention, done) {
    const isPanel = this.element?.contains(document.activeElement);
    const isOpen = this.item === item;
    this.results.redraw(item);
    this.listeners.onChange(mention ? `${done}: ${visible(mention.type)} ‘${visible(textOf(sentence, mention))}’.` : `${done}.`);
    if (!mention) {
      this.listeners.onClose();
      return;
    }
    this.listeners.onMove(item, keyOf(mention));
    if (isOpen) this.#show(item, sentence, mention);
    const label = () =>
      [...item.querySelectorAll("[data-mention]")].find(
        (cell) => cell.getAttribute("data-mention") === keyOf(mention) && cell.querySelector("button.label"),
      );
    if (isPanel && isOpen) this.element?.querySelector(".actions button")?.focus({ preventScroll: true });
    else label()?.querySelector("button.label")?.focus({ preventScroll: true });
  }
}

/**
 * Let users drag over words in the drawings while they correct.
 *
 * @param {HTMLElement} list
 * @param {Panel} panel
 */
export function dragOverWords(list, panel) {
  const toggle = get("correct");
  /** @type {{item: Element, words: Set<number>, first: number} | null} */
  let drag = null;
  toggle.addEventListener("click", () => {
    const isOn = toggle.getAttribute("aria-pressed") !== "true";
    toggle.setAttribute("aria-pressed", String(isOn));
    list.classList.toggle("correcting", isOn);
    get("correct-said").hidden = !isOn;
  });
  const wordAt = (target) => {
    const token = target instanceof Element ? target.closest(".token") : null;
    const item = token?.closest(".sentence");
    return item ? { item, word: Number(token.closest(".word").getAttribute("data-word")) } : null;
  };
  const mark = () => {
    for (const token of list.querySelectorAll(".token.picked")) token.classList.remove("picked");
    if (!drag) return;
    for (const word of drag.item.querySelectorAll(".words .word")) {
      if (drag.words.has(Number(word.getAttribute("data-word")))) word.querySelector(".token").classList.add("picked");
    }
  };
  list.addEventListener("pointerdown", (event) => {
    const at = list.classList.contains("correcting") && event.button === 0 ? wordAt(event.target) : null;
    if (!at) return;
    event.preventDefault();
    drag = { item: at.item, words: new Set([at.word]), first: at.word };
    list.setPointerCapture(event.pointerId);
    mark();
  });
  list.addEventListener("pointermove", (event) => {
    const at = drag && wordAt(document.elementFromPoint(event.clientX, event.clientY));
    if (!at || at.item !== drag.item) return;
    const [from, to] = [Math.min(drag.first, at.word), Math.max(drag.first, at.word)];
    drag.words = new Set(Array.from({ length: to - from + 1 }, (_, step) => from + step));
    mark();
  });
  list.addEventListener("pointerup", () => {
    if (!drag) return;
    const { item, words } = drag;
    drag = null;
    mark();
    panel.drag(item, [...words]);
  });
  list.addEventListener("pointercancel", () => {
    drag = null;
    mark();
  });
}
