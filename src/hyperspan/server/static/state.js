/**
 * What the page knows: the documents, what was found in them, how it is read, and what the reader corrected.
 *
 * Sentences keep every candidate with its probability, so that another threshold needs no server. The readings `enough`
 * and `all` are of the best structure and come from the server when they are first asked for.
 */

import { TypeColours } from "./colours.js";
import { byPlace, keyOf } from "./lanes.js";
import { CodePoints } from "./text.js";

/** @typedef {import("./lanes.js").Mention} Mention */
/** @typedef {"probable" | "enough" | "all"} Decode */

export const DECODES = /** @type {Decode[]} */ (["probable", "enough", "all"]);

/** What readings are called here; the names of the command line are said beside. */
export const NAMES = { probable: "Most probable", enough: "Best explanation", all: "Everything" };

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
 * @property {string} error why nothing was looked for
 * @property {Mention[]} accepted what the reader says is right
 * @property {Mention[]} rejected what the reader says is wrong
 */

/** One document: its text, its gold, and what was found in it. */
export class Doc {
  /**
   * @param {{text: string, doc?: string, gold?: any, findings?: string[], corrections?: any[]}} opened
   */
  constructor({ text, doc = "", gold = null, findings = [], corrections = [] }) {
    this.text = text;
    this.doc = doc;
    /** @type {{type: string, spans: [number, number][]}[] | null} */
    this.gold = gold;
    /** @type {string[]} what could not be read of the annotations */
    this.findings = findings;
    /** What was corrected before the sentences were there: by their numbers. */
    this.corrections = corrections;
    this.points = new CodePoints(text);
    /** @type {Sentence[]} */
    this.sentences = [];
    /** @type {Set<Decode>} readings that all sentences have */
    this.complete = new Set();
    this.isRead = false;
  }

  /** Return the same document with nothing found in it. */
  fresh() {
    const { text, doc, gold, findings } = this;
    return new Doc({ text, doc, gold, findings, corrections: this.corrected() });
  }

  /** Return what the reader corrected, as plain data. */
  corrected() {
    if (!this.sentences.length) return this.corrections;
    return this.sentences
      .filter(({ accepted, rejected }) => accepted.length || rejected.length)
      .map(({ number, tokens, accepted, rejected }) => ({ number, tokens: tokens.join(" "), accepted, rejected }));
  }

  /**
   * Add a sentence as the server gives it.
   *
   * @param {import("./api.js").FoundSentence} found
   * @param {Decode} decode
   * @returns {Sentence}
   */
  add(found, decode) {
    const { offsets, tokens } = found;
    const number = this.sentences.length;
    const blanks = tokens.map((_, word) => {
      if (word + 1 === tokens.length) return false;
      return !offsets || offsets[word][1] < offsets[word + 1][0];
    });
    const kept = this.corrections.find((other) => other.number === number && other.tokens === tokens.join(" "));
    const sentence = {
      number,
      tokens,
      blanks,
      direction: found.direction === "rtl" ? "rtl" : "ltr",
      text: offsets ? this.points.slice(found.start, found.end) : tokens.join(" "),
      candidates: found.candidates ?? [],
      gold: this.gold ? (found.gold ?? []) : null,
      readings: {},
      truncated: found.truncated,
      error: found.skipped ?? "",
      accepted: kept?.accepted ?? [],
      rejected: kept?.rejected ?? [],
    };
    if (decode !== "probable") sentence.readings[decode] = found.mentions;
    this.sentences.push(sentence);
    return sentence;
  }

  /** How many mentions one must expect to be wrong or missed, for each hundred words: where it is worth looking. */
  get uncertainty() {
    let doubt = 0;
    let words = 0;
    for (const { candidates, tokens } of this.sentences) {
      words += tokens.length;
      for (const { prob } of candidates) doubt += Math.min(prob, 1 - prob);
    }
    return words ? (100 * doubt) / words : 0;
  }
}

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
    /** @type {Set<string>} types that the reader does not want to see */
    this.hidden = new Set();
    /** @type {Doc[]} */
    this.documents = [];
    this.current = new Doc({ text: "" });
    this.colours = new TypeColours();
  }

  get text() {
    return this.current.text;
  }

  get doc() {
    return this.current.doc;
  }

  get gold() {
    return this.current.gold;
  }

  get sentences() {
    return this.current.sentences;
  }

  /**
   * Put a document where another one is, or at the end.
   *
   * @param {Doc} doc
   * @param {Doc} [old]
   */
  put(doc, old) {
    const at = old ? this.documents.indexOf(old) : -1;
    if (at < 0) this.documents.push(doc);
    else this.documents[at] = doc;
  }

  /** The chosen model's summary. */
  get summary() {
    return this.models.find((model) => model.name === this.model) ?? null;
  }

  /** @returns {string[]} */
  types() {
    return this.summary?.types ?? [];
  }

  /** Give the model's types their colours first, as the command line does. */
  colour() {
    this.colours = new TypeColours();
    for (const type of this.types()) this.colours.index(type);
  }

  /** @param {string} type */
  colourOf(type) {
    return this.colours.index(type);
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
   * Return the gold of a sentence with what the reader corrected; null if there is none.
   *
   * @param {Sentence} sentence
   * @returns {Mention[] | null}
   */
  goldOf(sentence) {
    return sentence.gold && corrected(sentence.gold, sentence);
  }

  /**
   * Return what was found in a sentence with what the reader corrected: what is to be kept of it.
   *
   * @param {Sentence} sentence
   * @returns {Mention[]}
   */
  finalOf(sentence) {
    return corrected(this.mentionsOf(sentence), sentence);
  }

  /**
   * Return what is known to be right in a sentence: its gold, or what the reader accepted.
   *
   * @param {Sentence} sentence
   * @returns {Mention[]}
   */
  knownOf(sentence) {
    return this.goldOf(sentence) ?? sentence.accepted;
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

  /** Whether a reading is at hand for every sentence of a document. */
  has(decode, doc = this.current) {
    return decode === "probable" || doc.complete.has(decode);
  }
}

/**
 * Return mentions less those that were rejected, with those that were accepted.
 *
 * @param {Mention[]} mentions
 * @param {Sentence} sentence
 * @returns {Mention[]}
 */
function corrected(mentions, { accepted, rejected }) {
  if (!accepted.length && !rejected.length) return mentions;
  const out = new Set([...rejected, ...accepted].map(keyOf));
  return [...mentions.filter((mention) => !out.has(keyOf(mention))), ...accepted].sort(byPlace);
}

/**
 * Say of a mention that it is right.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function accept(sentence, mention) {
  forget(sentence, mention);
  sentence.accepted = [...sentence.accepted, { ...mention, text: textOf(sentence, mention) }].sort(byPlace);
}

/**
 * Say of a mention that it is wrong; one that only the reader made is gone.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function reject(sentence, mention) {
  forget(sentence, mention);
  if (!mention.isOwn) sentence.rejected = [...sentence.rejected, { ...mention, text: textOf(sentence, mention) }];
}

/**
 * Take back whatever was said of a mention.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function forget(sentence, mention) {
  const key = keyOf(mention);
  sentence.accepted = sentence.accepted.filter((other) => keyOf(other) !== key);
  sentence.rejected = sentence.rejected.filter((other) => keyOf(other) !== key);
}

/**
 * Return the words of a mention, an ellipsis for each gap.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function textOf({ tokens, blanks }, { spans }) {
  const part = ([start, end]) =>
    tokens
      .slice(start, end)
      .map((token, at) => token + (blanks[start + at] && start + at + 1 < end ? " " : ""))
      .join("");
  return spans.map(part).join(" … ");
}
