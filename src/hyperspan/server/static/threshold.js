/** The switch between readings, and the threshold, which takes effect while it is moved. */

import { get } from "./dom.js";
import { DECODES } from "./state.js";

/** @typedef {import("./state.js").Decode} Decode */

const SAID = {
  probable: "Every mention at least as probable as the threshold.",
  enough: "The fewest mentions that explain the best reading of the whole sentence.",
  all: "Every mention that the best reading of the whole sentence allows.",
};

/**
 * @param {import("./state.js").State} state
 * @param {{onThreshold: () => void, onDecode: (decode: Decode) => void}} listeners
 */
export function controlReading(state, { onThreshold, onDecode }) {
  const slider = get("threshold");
  const value = get("threshold-value");
  const reset = get("threshold-reset");
  let isAsked = false;

  slider.addEventListener("input", () => {
    state.threshold = Number(slider.value);
    show();
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      onThreshold();
    });
  });
  reset.addEventListener("click", () => {
    state.threshold = state.summary?.threshold ?? 0.3;
    show();
    onThreshold();
    slider.focus();
  });
  for (const decode of DECODES) {
    get(`decode-${decode}`).addEventListener("change", () => onDecode(decode));
  }

  /** Show the state. */
  function show() {
    slider.value = String(state.threshold);
    value.value = state.threshold.toFixed(2);
    slider.setAttribute("aria-valuetext", `probability ${state.threshold.toFixed(2)}`);
    slider.style.setProperty("--at", String((state.threshold - slider.min) / (slider.max - slider.min)));
    const isProbable = state.decode === "probable";
    slider.disabled = !isProbable;
    get("threshold-field").classList.toggle("off", !isProbable);
    const tuned = state.summary?.threshold ?? 0.3;
    get("threshold-tuned").style.setProperty("--at", String((tuned - slider.min) / (slider.max - slider.min)));
    reset.textContent = `↺ ${tuned.toFixed(2)}`;
    reset.classList.toggle("unseen", !isProbable || Math.abs(tuned - state.threshold) < 0.005);
    get(`decode-${state.decode}`).checked = true;
    get("decode-said").textContent = SAID[state.decode];
  }

  return { show };
}
