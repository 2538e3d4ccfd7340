/** What the page tells: progress and results politely, failures at once and where the reader looks. */

import { get, make } from "./dom.js";
import { visible } from "./text.js";

/**
 * Say something that screen readers read when they have time.
 *
 * @param {string} sentence
 */
export function say(sentence) {
  const status = get("status");
  if (status.textContent !== sentence) status.textContent = sentence;
}

/**
 * Show how far a document has been read, or hide it.
 *
 * @param {number | null} share 0 to 1
 */
export function showProgress(share) {
  const bar = get("progress");
  bar.hidden = share === null;
  if (share !== null) bar.value = share;
}

/** @type {(() => void) | null} */
let again = null;

/**
 * Show a failure as a sentence, at the foot of the window.
 *
 * @param {Error & {details?: string[]}} error
 * @param {(() => void) | null} [retry] what is done if the reader asks for it once more
 */
export function fail(error, retry = null) {
  const box = get("failure");
  const details = error.details ?? [];
  get("failure-text").textContent = visible(error.message);
  get("failure-details").replaceChildren(...details.slice(0, 10).map((detail) => make("li", {}, visible(detail))));
  again = retry;
  get("failure-retry").hidden = !retry;
  box.hidden = false;
}

/** Take a shown failure away. */
export function forgive() {
  get("failure").hidden = true;
  again = null;
}

/** Let the buttons of failures do what they say. */
export function listenToFailures() {
  get("failure-close").addEventListener("click", forgive);
  get("failure-retry").addEventListener("click", () => {
    const retry = again;
    forgive();
    retry?.();
  });
}
