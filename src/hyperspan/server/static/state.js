/**
 * The state of the page: the documents, the mentions found in them, the current reading, and the user's corrections.
 *
 * Sentences keep every candidate with its probability, so that another threshold needs no request. The readings `enough`
 * and `all` are of the best encoding, and are requested from the server when they are first needed.
 */

import { TypeColours } from "./colours.js";
import { byPlace, keyOf } from "./lanes.js";
import { CodePoints } from "./text.js";

/** @typedef {import("./lanes.js").Mention} Mention */
/** @typedef {"probable" | "enough" | "all"} Decode */

export const DECODES = /** @type {Decode[]} */ (["probable", "enough", "all"]);

/** The names of the readings on the page; their titles have those of the command line. */
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
 * @property {string} error why the sentence was skipped
 * @property {Mention[]} accepted mentions that the user has accepted
 * @property {Mention[]} rejected mentions that the user has rejected
 */

/** One document: its text, its gold, and the mentions found in it. */
export class Doc {
  /**
   * @param {{text: string, doc?: string, gold?: any, findings?: string[], corrections?: any[]}} opened
   */
  constructor({ text, doc = "", gold = null, findings = [], corrections = [] }) {
    this.text = text;
    this.doc = doc;
    /** @type {{type: string, spans: [number, number][]}[] | null} */
    this.gold = gold;
    /** @type {string[]} problems in the annotations */
    this.findings = findings;
    /** Corrections from before the sentences were loaded, with the numbers of the sentences. */
    this.corrections = corrections;
    this.points = new CodePoints(text);
    /** @type {Sentence[]} */
    this.sentences = [];
    /** @type {Set<Decode>} readings that all sentences have */
    this.complete = new Set();
    this.isRead = false;
  }

  /** Return the same document without results. */
  fresh() {
    const { text, doc, gold, findings } = this;
    return new Doc({ text, doc, gold, findings, corrections: this.corrected() });
  }

  /** Return the user's corrections as plain data. */
  corrected() {
    if (!this.sentences.length) return this.corrections;
    return this.sentences
      .filter(({ accepted, rejected }) => accepted.length || rejected.length)
      .map(({ number, tokens, accepted, rejected }) => ({ number, tokens: tokens.join(" "), accepted, rejected }));
  }

  /**
   * Add a sentence from the server.
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

  /** The expected number of wrong or missed mentions per hundred words. */
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
    /** @type {Set<string>} types that the user has hidden */
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
   * Replace a document, or append one.
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

  /** Assign colours to the model's types first, as the command line does. */
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
   * Return the gold of a sentence with the user's corrections; null if there is none.
   *
   * @param {Sentence} sentence
   * @returns {Mention[] | null}
   */
  goldOf(sentence) {
    return sentence.gold && corrected(sentence.gold, sentence);
  }

  /**
   * Return the mentions found in a sentence with the user's corrections: those to download.
   *
   * @param {Sentence} sentence
   * @returns {Mention[]}
   */
  finalOf(sentence) {
    return corrected(this.mentionsOf(sentence), sentence);
  }

  /**
   * Return the mentions that are known to be right: the gold of a sentence, or what the user has accepted.
   *
   * @param {Sentence} sentence
   * @returns {Mention[]}
   */
  knownOf(sentence) {
    return this.goldOf(sentence) ?? sentence.accepted;
  }

  /**
   * Return the mentions that a change of reading added and removed.
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

  /** Whether a reading is loaded for every sentence of a document. */
  has(decode, doc = this.current) {
    return decode === "probable" || doc.complete.has(decode);
  }
}

/**
 * Return mentions without those that were rejected, plus those that were accepted.
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
 * Accept a mention.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function accept(sentence, mention) {
  forget(sentence, mention);
  sentence.accepted = [...sentence.accepted, { ...mention, text: textOf(sentence, mention) }].sort(byPlace);
}

/**
 * Reject a mention; one that the user has added is removed.
 *
 * @param {Sentence} sentence
 * @param {Mention} mention
 */
export function reject(sentence, mention) {
  forget(sentence, mention);
  if (!mention.isOwn) sentence.rejected = [...sentence.rejected, { ...mention, text: textOf(sentence, mention) }];
}

/**
 * Undo the correction of a mention.
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
 * Return the words of a mention, with an ellipsis for each gap.
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
