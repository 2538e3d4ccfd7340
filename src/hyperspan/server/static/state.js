/**
 * What the page knows: the text, what was found in it, and how it is read.
 *
 * Sentences keep every candidate with its probability, so that another threshold needs no server. The readings `enough`
 * and `all` are of the best structure and come from the server when they are first asked for.
 */

import { byPlace, keyOf } from "./lanes.js";
import { CodePoints } from "./text.js";

/** @typedef {import("./lanes.js").Mention} Mention */
/** @typedef {"probable" | "enough" | "all"} Decode */

export const DECODES = /** @type {Decode[]} */ (["probable", "enough", "all"]);

/**
 * @typedef {object} Sentence
 * @property {number} number counted from 0
 * @property {string[]} tokens
 * @property {boolean[]} blanks whether a blank follows each word
 * @property {"ltr" | "rtl"} direction
 * @property {string} text
 * @property {Mention[]} candidates the most probable first
 * @property {Mention[] | null} gold
 * @property {Partial<Record<Decode, Mention[]>>} readings
 * @property {boolean} truncated
 */

export class State {
  constructor() {
    /** @type {object[]} */
    this.models = [];
    this.model = "";
    /** @type {Decode} */
    this.decode = "probable";
    this.threshold = 0.3;
    /** @type {Decode | null} the reading before this one, whose differences are marked */
    this.before = null;
    this.forget();
  }

  /** Begin with nothing. */
  forget() {
    this.text = "";
    this.doc = "";
    /** @type {{type: string, spans: [number, number][]}[] | null} */
    this.gold = null;
    /** @type {string[]} what could not be read of the annotations */
    this.findings = [];
    this.clear();
  }

  /** Drop what was found, keep the text. */
  clear() {
    this.points = new CodePoints(this.text);
    /** @type {Sentence[]} */
    this.sentences = [];
    this.before = null;
    /** @type {Set<Decode>} readings that all sentences have */
    this.complete = new Set();
    this.colours = new Map(this.types().map((type, index) => [type, index]));
  }

  /** The chosen model's summary. */
  get summary() {
    return this.models.find((model) => model.name === this.model) ?? null;
  }

  /** @returns {string[]} */
  types() {
    return this.summary?.types ?? [];
  }

  /**
   * Return the number of a type's colour: in the model's order, then as types are met.
   *
   * @param {string} type
   */
  colourOf(type) {
    let index = this.colours.get(type);
    if (index === undefined) this.colours.set(type, (index = this.colours.size));
    return index % 8;
  }

  /**
   * Add a sentence as the server gives it.
   *
   * @param {import("./api.js").FoundSentence} found
   * @returns {Sentence}
   */
  add(found) {
    const { offsets, tokens } = found;
    const blanks = tokens.map((_, word) => {
      if (word + 1 === tokens.length) return false;
      return !offsets || offsets[word][1] < offsets[word + 1][0];
    });
    const sentence = {
      number: this.sentences.length,
      tokens,
      blanks,
      direction: found.direction === "rtl" ? "rtl" : "ltr",
      text: offsets ? this.points.slice(found.start, found.end) : tokens.join(" "),
      candidates: found.candidates ?? [],
      gold: this.gold ? (found.gold ?? []) : null,
      readings: {},
      truncated: found.truncated,
    };
    if (this.decode !== "probable") sentence.readings[this.decode] = found.mentions;
    this.sentences.push(sentence);
    return sentence;
  }

  /**
   * Return the mentions of a sentence under a reading, in text order.
   *
   * @param {Sentence} sentence
   * @param {Decode} [decode]
   * @returns {Mention[]}
   */
  mentionsOf(sentence, decode = this.decode) {
    const mentions =
      decode === "probable"
        ? sentence.candidates.filter((mention) => mention.prob >= this.threshold)
        : (sentence.readings[decode] ?? []);
    return [...mentions].sort(byPlace);
  }

  /**
   * Return what a switch of reading brought and took.
   *
   * @param {Sentence} sentence
   * @returns {{added: Set<string>, gone: Mention[]}}
   */
  changesOf(sentence) {
    if (!this.before) return { added: new Set(), gone: [] };
    const now = this.mentionsOf(sentence);
    const then = this.mentionsOf(sentence, this.before);
    const nowKeys = new Set(now.map(keyOf));
    const thenKeys = new Set(then.map(keyOf));
    return {
      added: new Set([...nowKeys].filter((key) => !thenKeys.has(key))),
      gone: then.filter((mention) => !nowKeys.has(keyOf(mention))),
    };
  }

  /** Whether a reading is at hand for every sentence. */
  has(decode) {
    return decode === "probable" || this.complete.has(decode);
  }
}
