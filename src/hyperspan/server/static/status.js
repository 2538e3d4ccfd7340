/** Messages: progress and results are announced politely, failures at once and where the user looks. */

import { get, make } from "./dom.js";
import { visible } from "./text.js";

/**
 * Announce something politely to screen readers.
 *
 * @param {string} sentence
 */
export function say(sentence) {
  const status = get("status");
  if (status.textContent !== sentence) status.textContent = sentence;
}

/**
 * Show the progress through a document, or hide it.
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
 * @param {(() => void) | null} [retry] called when the user retries
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

/** Hide the failure. */
export function forgive() {
  get("failure").hidden = true;
  again = null;
}

/** Connect the buttons of the failure message. */
export function listenToFailures() {
  get("failure-close").addEventListener("click", forgive);
  get("failure-retry").addEventListener("click", () => {
    const retry = again;
    forgive();
    retry?.();
  });
}
