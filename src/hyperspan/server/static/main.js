/** The main module: what happens when the user types, drops files, moves the threshold, corrects or downloads. */

import * as api from "./api.js";
import { listDocuments } from "./documents.js";
import { get, make } from "./dom.js";
import { download } from "./downloads.js";
import { drawWords } from "./draw.js";
import { SAMPLE, examplesFor } from "./examples.js";
import { acceptDrops, openFiles } from "./files.js";
import { toggleHypergraph } from "./hypergraph.js";
import { lightMentions } from "./highlight.js";
import { recall, remember } from "./memory.js";
import { showModel } from "./model.js";
import { Panel, dragOverWords } from "./panel.js";
import { Reader } from "./reader.js";
import { Results } from "./results.js";
import { DECODES, Doc, State } from "./state.js";
import { fail, forgive, listenToFailures, say, showProgress } from "./status.js";
import { showDocument, summarise } from "./summary.js";
import { counted, visible } from "./text.js";
import { controlReading } from "./threshold.js";

const state = new State();
const box = get("text");
const list = get("sentences");
const results = new Results(list, state, {
  onHypergraph: (item, sentence) => toggleHypergraph(state, item, sentence, fail),
  onNew: (item) => panel.create(item),
});
const panel = new Panel(state, results, { onChange: onCorrection, onClose: closePanel, onMove });
const lights = lightMentions(
  list,
  (item) => results.draw(item),
  (held) => (held ? panel.open(held.sentence, held.key) : panel.close()),
);
const reading = controlReading(state, { onThreshold, onDecode });
const documents = listDocuments(state, choose);
/** @type {import("./state.js").Decode | null} the reading that was requested last */
let wanted = null;
/** @type {Doc | null} the document that will replace another one */
let replaced = null;

const reader = new Reader(state, {
  onBegin: (doc) => {
    if (doc === state.current || replaced) show(doc);
  },
  onSentence: (doc, sentence) => {
    if (doc === state.current) results.add(sentence);
  },
  onFindings: (doc) => doc === state.current && showDocument(state),
  onProgress: (doc, nDone, share) => {
    if (doc !== state.current) return;
    showProgress(share);
    summary(`Finding mentions … ${counted(nDone, "sentence")} so far`);
  },
  onBusy: setBusy,
  onStop: (doc, nDone) => {
    if (doc === state.current) summary();
    say(`Stopped after ${counted(nDone, "sentence")}.`);
  },
  onFailure: (error, doc, nDone) => {
    if (doc === state.current && nDone) summary();
    say("");
    fail(error, () => (doc.isRead ? onDecode(wanted ?? state.decode) : find(doc.fresh(), replaced ?? doc)));
  },
});

/** Find mentions in the text of the box. */
function findTyped() {
  const text = box.value;
  if (!text.trim()) {
    fail(new Error("There is no text yet. Type or paste some, drop a file, or choose an example."));
    box.focus();
    return Promise.resolve();
  }
  const old = state.current;
  // A typed text is a new document: the annotations of a file no longer fit it.
  const isSame = text === old.text;
  const doc = isSame ? old.fresh() : new Doc({ text, doc: state.documents.length > 1 ? old.doc : "" });
  return find(doc, old);
}

/**
 * Find mentions in a document; it replaces another as soon as the server responds.
 *
 * @param {Doc} doc
 * @param {Doc} old
 */
async function find(doc, old) {
  forgive();
  replaced = old;
  say("Finding mentions …");
  if (get("empty").hidden === false) get("find").setAttribute("aria-busy", "true");
  const isDone = await reader.find(doc);
  get("find").removeAttribute("aria-busy");
  if (!isDone) {
    if (!reader.running) replaced = null;
    return;
  }
  finish();
  await readOthers();
}

/** Read the documents that have not been read yet, one after another. */
async function readOthers() {
  for (let doc; (doc = state.documents.find((other) => !other.isRead && !other.sentences.length)); ) {
    const isDone = await reader.find(doc);
    if (!isDone) {
      if (doc !== state.current) state.put(doc.fresh(), doc);
      return;
    }
    if (doc === state.current) finish();
    documents.show();
  }
}

/**
 * Show a document with the results so far.
 *
 * @param {Doc} doc
 */
function show(doc) {
  const isNew = !state.documents.includes(doc);
  if (isNew) state.put(doc, replaced ?? undefined);
  replaced = null;
  state.current = doc;
  state.before = null;
  closePanel();
  lights.clear();
  results.clear();
  for (const sentence of doc.sentences) results.add(sentence);
  get("empty").hidden = true;
  get("results").hidden = false;
  if (document.activeElement !== box || box.value !== doc.text) {
    if (box.value !== doc.text) box.value = doc.text;
    fit();
  }
  showStale();
  showDocument(state);
  summary(doc.isRead ? "" : "Finding mentions …");
  remember(state);
}

/**
 * Go to another document.
 *
 * @param {Doc} doc
 */
async function choose(doc) {
  if (doc === state.current) return;
  show(doc);
  if (doc.isRead && !state.has(state.decode, doc) && (await reader.read(doc, state.decode))) {
    results.refresh();
    finish();
  }
  if (!reader.running) await readOthers();
}

/** Announce the results when they are complete. */
function finish() {
  summary();
  remember(state);
  say(`${get("count").textContent}${get("scores").hidden ? "" : ` ${get("scores").textContent}`}`);
}

/** @param {string} [prefix] */
function summary(prefix = "") {
  summarise(state, onTypes, prefix);
  if (!prefix) documents.show();
}

function onTypes() {
  results.refresh();
  summary();
}

/** @param {boolean} isBusy */
function setBusy(isBusy) {
  get("stop").hidden = !isBusy;
  list.setAttribute("aria-busy", String(isBusy));
  showProgress(isBusy ? 0 : null);
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
  const doc = state.current;
  if (reader.running && reader.isFirst && (replaced || reader.doc === doc)) {
    state.decode = decode;
    reading.show();
    await find(reader.doc.fresh(), replaced ?? doc);
    return;
  }
  if (reader.running && state.has(decode)) reader.drop();
  if (doc.sentences.length && !state.has(decode)) {
    const isDone = await reader.read(doc, decode);
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
  const before = state.decode;
  state.decode = decode;
  reading.show();
  if (!doc.sentences.length) return;
  state.before = before;
  closePanel();
  results.refresh();
  finish();
  if (!reader.running) await readOthers();
}

/** @param {string} said */
function onCorrection(said) {
  summary();
  remember(state);
  say(said);
}

/**
 * Another mention was opened.
 *
 * @param {Element} item
 * @param {string} key
 */
function onMove(item, key) {
  lights.hold(item, key);
}

function closePanel() {
  panel.close();
  lights.release();
}

/**
 * Open texts and find their mentions.
 *
 * @param {{text: string, doc?: string, gold?: any, findings?: string[]}[]} opened
 */
function take(opened) {
  const docs = opened.map((each) => new Doc(each));
  results.onlyErrors = get("only-errors").checked = false;
  if (docs.length > 1) {
    reader.drop();
    state.documents = docs;
    state.current = docs[0];
    show(docs[0]);
    return find(docs[0], docs[0]);
  }
  box.value = docs[0].text;
  fit();
  if (state.documents.length > 1) state.documents = [state.current];
  showStale();
  return find(docs[0], state.current);
}

/** Make the box as high as its text, within the limits of the style. */
function fit() {
  box.style.setProperty("height", "auto");
  box.style.setProperty("height", `${Math.min(box.scrollHeight + 2, 2000)}px`);
}

/** Show whether the results belong to the text in the box. */
function showStale() {
  const isStale = state.documents.length > 0 && box.value !== state.text;
  get("stale").hidden = !isStale;
  get("results").classList.toggle("is-stale", isStale);
}

box.addEventListener("input", () => {
  fit();
  showStale();
});
box.addEventListener("paste", () => {
  if (!box.value) queueMicrotask(() => setTimeout(() => box.value.trim() && findTyped()));
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    findTyped();
  }
});
get("find").addEventListener("click", findTyped);
get("stale-find").addEventListener("click", () => {
  findTyped();
  get("results-start").focus();
});
get("stop").addEventListener("click", () => reader.stop());
get("only-errors").addEventListener("change", (event) => {
  results.onlyErrors = event.target.checked;
  results.refresh();
});
get("open").addEventListener("click", () => get("file").click());
get("file").addEventListener("change", async (event) => {
  await open([...event.target.files]);
  event.target.value = "";
});
acceptDrops({ onFiles: open, onText: (text) => text.trim() && take([{ text }]) });
listenToFailures();
dragOverWords(list, panel);

/** @param {File[]} files */
async function open(files) {
  if (!files.length) return;
  try {
    await take(await openFiles(files, state));
  } catch (error) {
    fail(error, error instanceof api.LostServer ? () => open(files) : null);
  }
}

for (const button of document.querySelectorAll("[data-format]")) {
  const save = async () => {
    try {
      say(`Saved ${visible(await download(state, button.dataset.format, get("export-what").value === "gold"))}.`);
    } catch (error) {
      fail(error, save);
    }
  };
  button.addEventListener("click", save);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const about = get("about");
  if (about.open) {
    about.open = false;
    about.querySelector("summary").focus();
  } else closePanel();
});
document.addEventListener("pointerdown", (event) => {
  const about = get("about");
  if (about.open && event.target instanceof Node && !about.contains(event.target)) about.open = false;
});

// Keyboard shortcuts of the panel, on the mention with the focus.
list.addEventListener("keydown", (event) => {
  const label = event.target instanceof Element ? event.target.closest("button.label") : null;
  if (!label || event.altKey || event.ctrlKey || event.metaKey) return;
  const item = label.closest(".sentence");
  const key = label.closest("[data-mention]").getAttribute("data-mention");
  const what = { a: "accept", r: "reject", Delete: "reject", e: "edit" }[event.key];
  if (what) panel.act(item, key, /** @type {any} */ (what));
  else if (event.key === "n") panel.create(item);
  else return;
  event.preventDefault();
});

/** Show the examples that suit the model. */
function showExamples() {
  const examples = examplesFor(state.summary);
  const place = get("examples");
  place.hidden = !examples.length;
  place.replaceChildren(
    make("span", { class: "note" }, "Try"),
    ...examples.map(({ name, text }) => {
      const button = make("button", { type: "button", class: "chip", title: text.slice(0, 120) }, name);
      button.addEventListener("click", () => take([{ text }]));
      return button;
    }),
  );
}

/** Explain drawings, before there is one. */
function showSample() {
  const sample = { ...SAMPLE, blanks: SAMPLE.tokens.map((_, word) => word + 1 < SAMPLE.tokens.length) };
  const marked = SAMPLE.mentions.map((mention) => ({ mention, mark: "", note: "" }));
  const place = get("sample");
  const words = drawWords(sample, marked, () => 0, place);
  words.classList.add("roomy");
  for (const button of words.querySelectorAll("button")) button.replaceWith(make("span", { class: "label" }, button.textContent));
  place.replaceChildren(words);
}

/** Load the list of models, and restore the last session. */
async function begin() {
  showSample();
  reading.show();
  try {
    const { models, default: name } = await api.models();
    state.models = models;
    const choice = get("model");
    choice.replaceChildren(...models.map((model) => make("option", { value: model.name }, visible(model.name))));
    get("model-field").hidden = models.length < 2;
    choice.addEventListener("change", () => {
      chooseModel(choice.value);
      if (state.documents.length) findAgain();
    });
    chooseModel(name);
    resume();
    addEventListener("hashchange", resume);
  } catch (error) {
    fail(error, begin);
  }
}

/** Find mentions again in all documents, as for another model. */
function findAgain() {
  reader.drop();
  const at = state.documents.indexOf(state.current);
  state.documents = state.documents.map((doc, number) => (number === at ? doc : doc.fresh()));
  return find(state.current.fresh(), state.current);
}

/** Restore what the link contains, or what was stored before the page was loaded. */
function resume() {
  const before = recall();
  if (before.model && state.models.some((model) => model.name === before.model)) chooseModel(before.model);
  if (DECODES.includes(/** @type {any} */ (before.decode))) state.decode = /** @type {any} */ (before.decode);
  state.threshold = before.threshold ?? state.threshold;
  reading.show();
  const doc = before.documents[before.current];
  if (!doc) return;
  state.documents = before.documents;
  state.current = doc;
  box.value = doc.text;
  fit();
  find(doc.fresh(), doc);
}

/** @param {string} name */
function chooseModel(name) {
  state.model = name;
  state.decode = state.summary?.decode ?? "probable";
  state.threshold = state.summary?.threshold ?? 0.3;
  state.before = null;
  state.hidden.clear();
  state.colour();
  get("model").value = name;
  reading.show();
  showModel(get("about"), state.summary);
  showExamples();
}

begin();
