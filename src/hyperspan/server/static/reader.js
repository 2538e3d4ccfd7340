/**
 * Documents are read one after another, the current one first. The previous results stay until the server begins to
 * respond, so that a failure does not replace them.
 */

import { predict } from "./api.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Doc} Doc */
/** @typedef {import("./state.js").Decode} Decode */

export class Reader {
  /**
   * @param {State} state
   * @param {object} listeners
   * @param {(doc: Doc) => void} listeners.onBegin the server has begun to respond
   * @param {(doc: Doc, sentence: import("./state.js").Sentence) => void} listeners.onSentence
   * @param {(doc: Doc) => void} listeners.onFindings
   * @param {(doc: Doc, nDone: number, share: number) => void} listeners.onProgress
   * @param {(isBusy: boolean) => void} listeners.onBusy
   * @param {(error: Error, doc: Doc, nDone: number) => void} listeners.onFailure
   * @param {(doc: Doc, nDone: number) => void} listeners.onStop
   */
  constructor(state, listeners) {
    this.state = state;
    this.listeners = listeners;
    /** @type {AbortController | null} */
    this.running = null;
    /** @type {Doc | null} the document that is being read */
    this.doc = null;
    /** Whether this is the first reading of a document. */
    this.isFirst = false;
  }

  stop() {
    this.running?.abort();
  }

  /** Abandon the current request silently. */
  drop() {
    const { running } = this;
    this.running = null;
    running?.abort();
    this.isFirst = false;
    this.listeners.onBusy(false);
  }

  /**
   * Find mentions in a document.
   *
   * @param {Doc} doc without results yet
   * @returns {Promise<boolean>} whether it is complete
   */
  async find(doc) {
    const { decode } = this.state;
    const more = { candidates: true, ...(doc.gold ? { gold: doc.gold } : {}) };
    const isDone = await this.#run(doc, decode, more, true, (found) =>
      this.listeners.onSentence(doc, doc.add(found, decode)),
    );
    if (isDone) doc.isRead = true;
    return isDone;
  }

  /**
   * Request another reading of a document.
   *
   * @param {Doc} doc
   * @param {Decode} decode
   * @returns {Promise<boolean>} whether it is complete
   */
  read(doc, decode) {
    let number = 0;
    return this.#run(doc, decode, {}, false, (found) => {
      const sentence = doc.sentences[number++];
      if (sentence) sentence.readings[decode] = found.mentions;
    });
  }

  /**
   * @param {Doc} doc
   * @param {Decode} decode
   * @param {object} more further fields of the request
   * @param {boolean} isFirst
   * @param {(found: import("./api.js").FoundSentence) => void} onSentence
   */
  async #run(doc, decode, more, isFirst, onSentence) {
    const { state, listeners } = this;
    this.running?.abort();
    const own = (this.running = new AbortController());
    this.isFirst = isFirst;
    this.doc = doc;
    let nDone = 0;
    let shown = 0;
    listeners.onBusy(true);
    const threshold = state.threshold;
    const request = { text: doc.text, model: state.model || undefined, decode, threshold, skip_long: true, ...more };
    try {
      await predict(
        request,
        {
          onHead: () => own === this.running && isFirst && listeners.onBegin(doc),
          onSentence: (found) => {
            if (own !== this.running) return;
            onSentence(found);
            nDone++;
            const now = performance.now();
            if (now - shown < 100) return;
            shown = now;
            listeners.onProgress(doc, nDone, (found.end ?? 0) / Math.max(1, doc.points.length));
          },
          onFindings: (findings) => {
            if (own !== this.running || !findings.length) return;
            doc.findings = [...new Set([...doc.findings, ...findings])];
            listeners.onFindings(doc);
          },
        },
        own.signal,
      );
      if (own !== this.running) return false;
      doc.complete.add(decode);
      return true;
    } catch (error) {
      if (own !== this.running) return false;
      if (own.signal.aborted) listeners.onStop(doc, nDone);
      else listeners.onFailure(error, doc, nDone);
      return false;
    } finally {
      if (own === this.running) {
        this.running = null;
        this.isFirst = false;
        listeners.onBusy(false);
      }
    }
  }
}
