/** The page put together: what happens when somebody types, drops, slides, switches or asks for a file. */

import * as api from "./api.js";
import { get, make } from "./dom.js";
import { download } from "./downloads.js";
import { drawWords } from "./draw.js";
import { EXAMPLES, SAMPLE } from "./examples.js";
import { acceptDrops, openFiles } from "./files.js";
import { compare, scores } from "./gold.js";
import { toggleHypergraph } from "./hypergraph.js";
import { lightMentions } from "./highlight.js";
import { showModel } from "./model.js";
import { Results } from "./results.js";
import { State } from "./state.js";
import { fail, forgive, say, showProgress } from "./status.js";
import { counted, visible } from "./text.js";
import { controlReading } from "./threshold.js";

const state = new State();
const box = get("text");
const list = get("sentences");
const results = new Results(list, state, (item, sentence) => toggleHypergraph(state, item, sentence, fail));
const lights = lightMentions(list, (item) => results.draw(item));
const reading = controlReading(state, { onThreshold, onDecode });
/** @type {AbortController | null} */
let running = null;
/** Whether what runs is the first reading of a text. */
let isFirst = false;
/** @type {import("./state.js").Decode | null} the reading that was asked for last */
let wanted = null;

/** Find mentions in what the box holds. */
async function find() {
  if (!state.text.trim()) {
    fail(new Error("There is no text yet. Type or paste one, drop a file, or take an example."));
    box.focus();
    return;
  }
  forgive();
  state.clear();
  results.clear();
  lights.clear();
  get("empty").hidden = true;
  get("results").hidden = false;
  showDocument();
  summarise();
  const more = { candidates: true, ...(state.gold ? { gold: state.gold } : {}) };
  const done = run(state.decode, more, (found) => {
    results.add(state.add(found));
  });
  isFirst = true;
  if (await done) finish();
}

/**
 * Ask for the text under a reading.
 *
 * @param {import("./state.js").Decode} decode
 * @param {object} more what to ask beside
 * @param {(found: api.FoundSentence) => void} onSentence
 * @returns {Promise<boolean>} whether all of it came
 */
async function run(decode, more, onSentence) {
  running?.abort();
  const own = (running = new AbortController());
  isFirst = false;
  let nDone = 0;
  let shown = 0;
  setBusy(true);
  say("Finding mentions …");
  showProgress(0);
  try {
    const request = { text: state.text, model: state.model || undefined, decode, threshold: state.threshold, ...more };
    await api.predict(
      request,
      {
        onSentence: (found) => {
          if (own !== running) return;
          onSentence(found);
          nDone++;
          const now = performance.now();
          if (now - shown < 100) return;
          shown = now;
          showProgress((found.end ?? 0) / Math.max(1, state.points.length));
          summarise(`Finding mentions … ${counted(nDone, "sentence")} so far`);
        },
        onFindings: (findings) => {
          if (own !== running || !findings.length) return;
          state.findings = [...new Set([...state.findings, ...findings])];
          showDocument();
        },
      },
      own.signal,
    );
    if (own !== running) return false;
    state.complete.add(decode);
    return true;
  } catch (error) {
    if (own !== running) return false;
    summarise();
    if (own.signal.aborted) say(`Stopped after ${counted(nDone, "sentence")}.`);
    else {
      say("");
      fail(error);
    }
    return false;
  } finally {
    if (own === running) rest();
  }
}

/** Show that nothing is under way. */
function rest() {
  running = null;
  isFirst = false;
  setBusy(false);
  showProgress(null);
}

/** Say what there is now that all of it is there. */
function finish() {
  summarise();
  say(`${get("count").textContent}${get("scores").hidden ? "" : ` ${get("scores").textContent}`}`);
}

/** @param {boolean} isBusy */
function setBusy(isBusy) {
  get("stop").hidden = !isBusy;
  get("sentences").setAttribute("aria-busy", String(isBusy));
  for (const button of document.querySelectorAll("[data-format]")) button.disabled = isBusy;
}

function onThreshold() {
  state.before = null;
  results.refresh();
  finish();
}

/** @param {import("./state.js").Decode} decode */
async function onDecode(decode) {
  wanted = decode;
  if (running && isFirst) {
    state.decode = decode;
    reading.show();
    await find();
    return;
  }
  if (running && state.has(decode)) {
    running.abort();
    rest();
  }
  if (state.sentences.length && !state.has(decode)) {
    let number = 0;
    const isDone = await run(decode, {}, (found) => {
      const sentence = state.sentences[number++];
      if (sentence) sentence.readings[decode] = found.mentions;
    });
    if (wanted !== decode) return;
    if (!isDone) {
      reading.show();
      return;
    }
  }
  if (decode === state.decode) {
    reading.show();
    return;
  }
  if (state.sentences.length) state.before = state.decode;
  state.decode = decode;
  reading.show();
  if (!state.sentences.length) return;
  lights.clear();
  results.refresh();
  finish();
}

/** Count what is shown: mentions, types, scores, changes. */
function summarise(prefix = "") {
  const byType = new Map(state.types().map((type) => [type, 0]));
  let nMentions = 0;
  let nGold = 0;
  let right = 0;
  let nAdded = 0;
  let nGone = 0;
  for (const sentence of state.sentences) {
    const found = state.mentionsOf(sentence);
    nMentions += found.length;
    for (const { type } of [...found, ...(sentence.gold ?? [])]) byType.set(type, byType.get(type) ?? 0);
    for (const { type } of found) byType.set(type, byType.get(type) + 1);
    if (sentence.gold) {
      nGold += sentence.gold.length;
      right += compare(found, sentence.gold).right;
    }
    const { added, gone } = state.changesOf(sentence);
    nAdded += added.size;
    nGone += gone.length;
  }
  const place = counted(state.sentences.length, "sentence");
  get("count").textContent = prefix || `${counted(nMentions, "mention")} in ${place}.`;
  showTypes(byType);
  showScores(right, nMentions, nGold);
  const changes = get("changes");
  changes.hidden = !state.before || Boolean(prefix);
  changes.textContent =
    nAdded || nGone
      ? `Against “${state.before}”: ${nAdded.toLocaleString("en")} new (+), ${nGone.toLocaleString("en")} gone (−).`
      : `The same mentions as “${state.before}”.`;
}

/** @param {Map<string, number>} byType */
function showTypes(byType) {
  const items = [...byType].map(([type, count]) =>
    make(
      "li",
      { class: `hs-c${state.colourOf(type)}` },
      make("span", { class: "key" }),
      make("bdi", {}, visible(type)),
      make("span", { class: "note" }, count.toLocaleString("en")),
    ),
  );
  get("types").replaceChildren(...items);
}

/**
 * @param {number} right
 * @param {number} nFound
 * @param {number} nGold
 */
function showScores(right, nFound, nGold) {
  const line = get("scores");
  line.hidden = !state.gold;
  get("errors-field").hidden = !state.gold;
  if (!state.gold) return;
  const { precision, recall, f1 } = scores(right, nFound, nGold);
  const percent = (ratio) => (100 * ratio).toFixed(1);
  line.textContent =
    `${right.toLocaleString("en")} of ${counted(nGold, "gold mention")} found: ` +
    `precision ${percent(precision)}, recall ${percent(recall)}, F1 ${percent(f1)}.`;
}

/** Show the name of the document, and what could not be read of its annotations. */
function showDocument() {
  const name = get("doc");
  name.hidden = !state.doc;
  name.textContent = visible(state.doc);
  const findings = get("findings");
  findings.hidden = !state.findings.length;
  get("findings-count").textContent = `${counted(state.findings.length, "finding")} in the annotations`;
  get("findings-list").replaceChildren(
    ...state.findings.slice(0, 100).map((finding) => make("li", {}, make("bdi", {}, visible(finding)))),
  );
}

/**
 * Take a text and find what is in it.
 *
 * @param {{text: string, doc?: string, gold?: any, findings?: string[]}} opened
 */
function take({ text, doc = "", gold = null, findings = [] }) {
  Object.assign(state, { text, doc, gold, findings });
  box.value = text;
  fit();
  get("only-errors").checked = results.onlyErrors = false;
  return find();
}

/** Let the box be as high as its text, within bounds that the style sets. */
function fit() {
  box.style.setProperty("height", "auto");
  box.style.setProperty("height", `${Math.min(box.scrollHeight + 2, 2000)}px`);
}

box.addEventListener("input", () => {
  // What is typed is a text of its own: the annotations of a file no longer fit it.
  Object.assign(state, { text: box.value, doc: "", gold: null, findings: [] });
  fit();
});
box.addEventListener("paste", () => {
  if (!box.value) queueMicrotask(() => setTimeout(() => box.value.trim() && find()));
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    find();
  }
});
get("find").addEventListener("click", find);
get("stop").addEventListener("click", () => running?.abort());
get("failure-close").addEventListener("click", forgive);
get("only-errors").addEventListener("change", (event) => {
  results.onlyErrors = event.target.checked;
  results.refresh();
});
get("open").addEventListener("click", () => get("file").click());
get("file").addEventListener("change", async (event) => {
  await open([...event.target.files]);
  event.target.value = "";
});
acceptDrops({ onFiles: open, onText: (text) => text.trim() && take({ text }) });

/** @param {File[]} files */
async function open(files) {
  if (!files.length) return;
  try {
    await take(await openFiles(files, state));
  } catch (error) {
    fail(error);
  }
}

for (const button of document.querySelectorAll("[data-format]")) {
  button.addEventListener("click", async () => {
    try {
      say(`Saved ${visible(await download(state, button.dataset.format))}.`);
    } catch (error) {
      fail(error);
    }
  });
}

get("examples").append(
  ...EXAMPLES.map(({ name, text }) => {
    const button = make("button", { type: "button", class: "chip", title: text.slice(0, 120) }, name);
    button.addEventListener("click", () => take({ text }));
    return button;
  }),
);

/** Show what a drawing means, before there is one. */
function showSample() {
  const sample = { ...SAMPLE, blanks: SAMPLE.tokens.map((_, word) => word + 1 < SAMPLE.tokens.length) };
  const marked = SAMPLE.mentions.map((mention) => ({ mention, mark: "", note: "" }));
  const place = get("sample");
  const words = drawWords(sample, marked, () => 0, place);
  words.classList.add("roomy");
  for (const button of words.querySelectorAll("button")) button.replaceWith(make("span", { class: "label" }, button.textContent));
  place.replaceChildren(words);
}

/** Ask which models there are. */
async function begin() {
  showSample();
  reading.show();
  try {
    const { models, default: name } = await api.models();
    state.models = models;
    choose(name);
    const choice = get("model");
    choice.replaceChildren(...models.map((model) => make("option", { value: model.name }, visible(model.name))));
    choice.value = name;
    get("model-field").hidden = models.length < 2;
    choice.addEventListener("change", () => {
      choose(choice.value);
      if (state.sentences.length) find();
    });
  } catch (error) {
    fail(error);
  }
}

/** @param {string} name */
function choose(name) {
  state.model = name;
  state.decode = state.summary?.decode ?? "probable";
  state.threshold = state.summary?.threshold ?? 0.3;
  state.before = null;
  reading.show();
  showModel(get("about"), state.summary);
}

begin();
