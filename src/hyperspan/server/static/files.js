/** Texts and brat pairs from the user's disk: dropped on the page or chosen in a dialogue. They stay in this window. */

import { ServerError, readBrat } from "./api.js";
import { counted, visible } from "./text.js";

/**
 * @typedef {object} Opened
 * @property {string} text
 * @property {string} doc
 * @property {{type: string, spans: [number, number][]}[] | null} gold
 * @property {string[]} findings problems in the annotations
 */

/** The maximum number of files at a time: more would keep the page busy for long. */
const MOST_FILES = 500;

/**
 * Read dropped or chosen files: texts, each with its annotations if there are any, or annotations of the current text.
 *
 * @param {File[]} files
 * @param {{text: string, doc: string}} shown
 * @returns {Promise<Opened[]>}
 */
export async function openFiles(files, shown) {
  const anns = files.filter((file) => /\.ann$/i.test(file.name));
  const texts = files.filter((file) => !anns.includes(file));
  if (files.length > MOST_FILES) {
    throw new ServerError(`There are ${counted(files.length, "file")}; expected at most ${MOST_FILES} at a time. Drop fewer.`);
  }
  if (!texts.length) {
    if (anns.length > 1 || !shown.text) {
      throw new ServerError(`${visible(anns[0].name)} has annotations but no text. Drop it together with its .txt file.`);
    }
    return [await pair(shown.text, shown.doc || stem(anns[0].name), anns[0])];
  }
  const byName = new Map(anns.map((file) => [stem(file.name), file]));
  // One text and one file of annotations belong together, whatever their names.
  const annotationsOf = (file) => (files.length === 2 ? anns[0] : byName.get(stem(file.name)));
  const alone = files.length === 2 ? null : anns.find((ann) => !texts.some((file) => stem(file.name) === stem(ann.name)));
  if (alone) {
    throw new ServerError(`${visible(alone.name)} has annotations but no text. Drop it together with its .txt file.`);
  }
  texts.sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
  const opened = [];
  for (const file of texts) {
    const text = await read(file);
    if (!text.trim() && texts.length === 1) throw new ServerError(`${visible(file.name)} is empty.`);
    if (text.trim()) opened.push(await pair(text, stem(file.name), annotationsOf(file)));
  }
  if (!opened.length) throw new ServerError("All of these files are empty.");
  return opened;
}

/**
 * @param {string} text
 * @param {string} doc
 * @param {File | undefined} ann
 * @returns {Promise<Opened>}
 */
async function pair(text, doc, ann) {
  if (!ann) return { text, doc, gold: null, findings: [] };
  const { gold, findings } = await readBrat(text, await read(ann));
  return { text, doc, gold, findings };
}

/** @param {File} file */
async function read(file) {
  const bytes = await file.arrayBuffer();
  try {
    // Byte order marks are kept: offsets may count them.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ServerError(`${visible(file.name)} is not UTF-8 text. Save it as UTF-8 and drop it again.`);
  }
}

/** @param {string} name */
function stem(name) {
  return name.replace(/\.[^.]+$/, "") || name;
}

/**
 * Let files and text be dropped anywhere on the page.
 *
 * @param {{onFiles: (files: File[]) => void, onText: (text: string) => void}} listeners
 */
export function acceptDrops({ onFiles, onText }) {
  const root = document.documentElement;
  let depth = 0;
  const show = (change) => {
    depth = Math.max(0, depth + change);
    root.classList.toggle("dropping", depth > 0);
  };
  const isOurs = (event) => {
    const types = event.dataTransfer?.types ?? [];
    return types.includes("Files") || (types.includes("text/plain") && !(event.target instanceof HTMLTextAreaElement));
  };
  addEventListener("dragenter", (event) => isOurs(event) && show(1));
  addEventListener("dragleave", (event) => isOurs(event) && show(-1));
  addEventListener("dragover", (event) => {
    if (isOurs(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    depth = 0;
    show(0);
    if (!isOurs(event)) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    if (files.length) onFiles(files);
    else onText(event.dataTransfer.getData("text/plain"));
  });
}
