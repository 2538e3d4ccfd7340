/**
 * The details of a mention: what its probability means, which features support or contradict it, and its alternatives.
 */

import { explain } from "./api.js";
import { make } from "./dom.js";
import { overlaps } from "./gold.js";
import { keyOf } from "./lanes.js";
import { cut, visible } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Sentence} Sentence */
/** @typedef {import("./lanes.js").Mention} Mention */

const MOST_ALTERNATIVES = 5;

/**
 * Fill an element with the reasons for a mention.
 *
 * @param {HTMLElement} place
 * @param {State} state
 * @param {Sentence} sentence
 * @param {Mention} mention
 * @param {(other: Mention) => void} onAlternative
 * @returns {Promise<void>}
 */
export async function showReasons(place, state, sentence, mention, onAlternative) {
  place.setAttribute("aria-busy", "true");
  place.replaceChildren(make("p", { class: "note" }, "Loading the reasons …"));
  try {
    const answer = await explain({
      tokens: sentence.tokens,
      model: state.model || undefined,
      decode: state.decode,
      threshold: state.threshold,
      mention: { type: mention.type, spans: mention.spans },
    });
    const explained = answer.mentions[0];
    place.replaceChildren(
      make("p", {}, meaningOf(explained.prob, state, mention)),
      ...looks(explained.reasons, sentence),
      alternatives(state, sentence, mention, onAlternative) ?? "",
    );
  } catch (error) {
    place.replaceChildren(
      make("p", { class: "problem" }, visible(error.message)),
      alternatives(state, sentence, mention, onAlternative) ?? "",
    );
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/**
 * Explain a probability.
 *
 * @param {number} prob
 * @param {State} state
 * @param {Mention} mention
 */
function meaningOf(prob, state, mention) {
  const shown = prob < 0.005 ? "less than 0.01" : prob.toFixed(2);
  const times = prob < 0.005 ? "Fewer than one" : `About ${Math.round(100 * prob)}`;
  const own = mention.isOwn ? "You added this mention; its probability is" : "Its probability is";
  const reaches = prob >= state.threshold ? "reaches" : "does not reach";
  return `${own} ${shown}. ${times} of 100 mentions with this probability should be right. It ${reaches} the threshold of ${state.threshold.toFixed(2)}.`;
}

/**
 * The reasons of the second look, if there was one, and those of the first.
 *
 * @param {any[]} reasons
 * @param {Sentence} sentence
 */
function looks(reasons, sentence) {
  const second = reasons.filter((reason) => reason.look === 2);
  const first = reasons.filter((reason) => reason.look !== 2);
  const parts = [
    bars(first.filter((reason) => !reason.is_bias), sentence),
    bias(first.find((reason) => reason.is_bias)),
  ];
  if (!second.length) return parts;
  return [
    make("h4", {}, "The mention as a whole"),
    bars(second.filter((reason) => !reason.is_bias), sentence),
    make("h4", {}, "Its words, at first look"),
    ...parts,
  ];
}

/**
 * @param {any[]} reasons
 * @param {Sentence} sentence
 */
function bars(reasons, sentence) {
  const most = Math.max(...reasons.map((reason) => Math.abs(reason.amount)), 1e-9);
  const rows = reasons.map((reason) => {
    const isFor = reason.amount > 0;
    const bar = make("span", { class: isFor ? "meter for" : "meter against", "aria-hidden": "true" });
    bar.style.setProperty("--share", (Math.abs(reason.amount) / most).toFixed(3));
    const amount = `${isFor ? "+" : "−"}${Math.abs(reason.amount).toFixed(2)}`;
    return make(
      "li",
      { title: visible(reason.feature) },
      bar,
      make("span", { class: "amount" }, amount),
      make(
        "span",
        {},
        make("span", { class: "hidden" }, isFor ? "for it: " : "against it: "),
        ...(reason.look === 2
          ? []
          : ["at ", make("bdi", {}, `‘${visible(cut(sentence.tokens[reason.word], 40))}’`), " "]),
        make("bdi", {}, visible(cut(reason.in_words, 300))),
      ),
    );
  });
  if (!rows.length) return make("p", { class: "note" }, "No feature that the model knows supports or contradicts it.");
  return make(
    "div",
    {},
    make(
      "p",
      { class: "note" },
      reasons[0].look === 2
        ? "The largest contributions. +0.7 about doubles the odds, −0.7 about halves them."
        : "The largest contributions. +0.7 makes it about twice as probable, −0.7 half as probable.",
    ),
    make("ul", { class: "reasons", "aria-label": "Reasons" }, ...rows),
  );
}

/** @param {any} reason */
function bias(reason) {
  if (!reason) return "";
  const amount = `${reason.amount < 0 ? "−" : "+"}${Math.abs(reason.amount).toFixed(2)}`;
  return make(
    "details",
    { class: "bias" },
    make("summary", { class: "note" }, "and what applies to every word"),
    make("p", { class: "note" }, `${amount}: how rare or common mentions like this are, independent of the words.`),
  );
}

/**
 * Other mentions over the same words, each with its probability.
 *
 * @param {State} state
 * @param {Sentence} sentence
 * @param {Mention} mention
 * @param {(other: Mention) => void} onAlternative
 */
function alternatives(state, sentence, mention, onAlternative) {
  const others = sentence.candidates.filter((other) => keyOf(other) !== keyOf(mention) && overlaps(other, mention));
  if (!others.length) return null;
  const items = others.slice(0, MOST_ALTERNATIVES).map((other) => {
    const button = make(
      "button",
      { type: "button", class: `chip hs-c${state.colourOf(other.type)}` },
      make("bdi", {}, visible(cut(other.type, 40))),
      make("bdi", { class: "words-of" }, visible(cut(other.text, 80))),
      make("span", { class: "note" }, other.prob.toFixed(2)),
    );
    button.addEventListener("click", () => onAlternative(other));
    return make("li", {}, button);
  });
  return make(
    "div",
    { class: "alternatives" },
    make("p", { class: "note" }, "Other possible mentions that overlap it; any number of them can be right:"),
    make("ul", { "aria-label": "Alternatives" }, ...items),
  );
}
