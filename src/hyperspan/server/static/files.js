/** Texts and brat pairs from the reader's disk: dropped on the page or chosen in a dialogue. They stay in this window. */

import { ServerError, readBrat } from "./api.js";
import { counted, visible } from "./text.js";

/**
 * @typedef {object} Opened
 * @property {string} text
 * @property {string} doc
 * @property {{type: string, spans: [number, number][]}[] | null} gold
 * @property {string[]} findings what could not be read of the annotations
 */

/**
 * Read dropped or chosen files: one text, a text with its annotations, or annotations of the text that is shown.
 *
 * @param {File[]} files
 * @param {{text: string, doc: string}} shown
 * @returns {Promise<Opened>}
 */
export async function openFiles(files, shown) {
  const anns = files.filter((file) => /\.ann$/i.test(file.name));
  const texts = files.filter((file) => !anns.includes(file));
  if (texts.length > 1 || anns.length > 1) {
    throw new ServerError(
      `${counted(files.length, "file")} came at once; expected one text, or a .txt with its .ann. Drop them again, one document at a time.`,
    );
  }
  if (!texts.length && !shown.text) {
    throw new ServerError(`${visible(anns[0].name)} has annotations but no text. Drop it together with its .txt file.`);
  }
  const text = texts.length ? await read(texts[0]) : shown.text;
  const doc = texts.length ? stem(texts[0].name) : shown.doc || stem(anns[0].name);
  if (!text.trim()) throw new ServerError(`${visible(texts[0].name)} is empty.`);
  if (!anns.length) return { text, doc, gold: null, findings: [] };
  const pair = await readBrat(text, await read(anns[0]));
  return { text: pair.text, doc, gold: pair.gold, findings: pair.findings };
}

/** @param {File} file */
async function read(file) {
  const bytes = await file.arrayBuffer();
  try {
    // Marks of byte order are kept: offsets may count them.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ServerError(`${visible(file.name)} is not a text in UTF-8. Save it as UTF-8 and drop it again.`);
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
