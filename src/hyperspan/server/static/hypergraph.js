/**
 * The hypergraph of a sentence: the rows A, E, T, B, O and X over the words; chosen edges are strong, others have their
 * probability. The picture comes from the server as SVG, and every element of it is checked.
 */

import { ServerError, explain } from "./api.js";
import { make } from "./dom.js";
import { visible } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Sentence} Sentence */

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "path", "circle", "rect", "line", "text", "tspan", "title", "desc"]);
const ATTRIBUTES = new Set(
  `aria-label class cx cy d data-link dx dy fill fill-opacity font-size font-weight height lengthAdjust opacity r role rx
  ry stroke stroke-dasharray stroke-opacity stroke-width text-anchor textLength transform viewBox width x x1 x2 y y1
  y2`.split(/\s+/),
);

/**
 * Turn the text of a picture into an element of this page.
 *
 * @param {string} text
 * @returns {SVGSVGElement}
 * @throws {ServerError} if it is not a picture, or has elements or attributes that pictures do not need
 */
export function adopted(text) {
  // Our pictures contain a style, which the page has already and its policy would reject.
  const bare = text.replace(/<style>[^<]*<\/style>/g, "");
  const parsed = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
  if (parsed.namespaceURI !== SVG || parsed.localName !== "svg" || parsed.querySelector("parsererror")) {
    throw new ServerError("The server sent a picture that cannot be read.");
  }
  for (const element of [parsed, ...parsed.querySelectorAll("*")]) {
    if (element.namespaceURI !== SVG || !ELEMENTS.has(element.localName)) {
      throw new ServerError(`The picture contains an element <${visible(element.localName)}> and is not shown.`);
    }
    for (const { name } of [...element.attributes]) {
      if (name !== "xmlns" && !ATTRIBUTES.has(name)) {
        throw new ServerError(`The picture contains an attribute “${visible(name)}” and is not shown.`);
      }
    }
  }
  return /** @type {any} */ (document.importNode(parsed, true));
}

/**
 * Open the hypergraph of a sentence below it, or close it.
 *
 * @param {State} state
 * @param {HTMLElement} item
 * @param {Sentence} sentence
 * @param {(error: Error) => void} onError
 */
export function toggleHypergraph(state, item, sentence, onError) {
  const button = item.querySelector(".open-hypergraph");
  const open = item.querySelector(".hypergraph");
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    open.remove();
    return;
  }
  const panel = make("section", { class: "hypergraph", "aria-label": `Hypergraph of sentence ${sentence.number + 1}` });
  item.append(panel);
  show(state, sentence, panel, null, onError);
}

/**
 * @param {State} state
 * @param {Sentence} sentence
 * @param {HTMLElement} panel
 * @param {string | null} type
 * @param {(error: Error) => void} onError
 */
async function show(state, sentence, panel, type, onError) {
  panel.setAttribute("aria-busy", "true");
  if (!panel.firstChild) panel.append(make("p", { class: "note" }, "Drawing …"));
  try {
    const answer = await explain({
      tokens: sentence.tokens,
      model: state.model || undefined,
      decode: state.decode,
      threshold: state.threshold,
      ...(type === null ? {} : { type }),
    });
    const picture = adopted(answer.hypergraph);
    const again = (other) => show(state, sentence, panel, other, onError);
    const figure = make(
      "div",
      { class: "figure", tabindex: 0, role: "region", "aria-label": "The picture; scroll it sideways" },
      picture,
    );
    const data = answer.hypergraph_data;
    const listener = (event) => lightPath(picture, data, event.detail);
    panel.closest(".sentence")?.addEventListener("lit", listener);
    panel.replaceChildren(
      ...[typeSwitch(state, answer, sentence, again), figure, legend(data)].filter(Boolean),
    );
    if (type !== null) panel.querySelector('[aria-pressed="true"]')?.focus({ preventScroll: true });
  } catch (error) {
    panel.replaceChildren(make("p", { class: "note" }, "There is no picture of this sentence."));
    onError(error);
  } finally {
    panel.removeAttribute("aria-busy");
  }
}

/**
 * One button for each type, with the expected number of mentions; the current type is pressed.
 *
 * @param {State} state
 * @param {any} answer
 * @param {Sentence} sentence
 * @param {(type: string) => void} onType
 */
function typeSwitch(state, answer, sentence, onType) {
  const types = Object.entries(answer.types ?? {}).sort((one, other) => other[1] - one[1]);
  if (types.length < 2) return null;
  const buttons = types.map(([type, expected]) => {
    const button = make(
      "button",
      { type: "button", class: `chip hs-c${state.colourOf(type)}`, "aria-pressed": String(type === answer.type) },
      make("span", { class: "key" }),
      make("bdi", {}, visible(type)),
      make("span", { class: "note" }, expected < 0.005 ? "0" : expected.toFixed(2)),
    );
    button.addEventListener("click", () => onType(type));
    return button;
  });
  return make(
    "div",
    { class: "row", role: "group", "aria-label": `Type of the hypergraph of sentence ${sentence.number + 1}` },
    make("span", { class: "note" }, "Type, with its expected number of mentions:"),
    ...buttons,
  );
}

/** @param {any} data */
function legend(data) {
  if (!data || data.tags || data.parts) return null;
  const rows = [
    ["A", "mentions from here on"],
    ["E", "mentions that start here"],
    ["T", "does one of this type start here?"],
    ["B", "a word in a part"],
    ["O", "a word in a gap"],
    ["X", "the end"],
  ];
  return make(
    "dl",
    { class: "rows" },
    ...rows.map(([name, meaning]) => make("div", {}, make("dt", {}, name), make("dd", {}, meaning))),
  );
}

/**
 * Highlight the links of a mention's path in a picture, or none.
 *
 * @param {SVGSVGElement} picture
 * @param {any} data as the server describes the hypergraph
 * @param {string | null} key of the mention, as `keyOf` writes it
 */
function lightPath(picture, data, key) {
  const path = new Set(key === null || !data?.blocks ? [] : pathOf(data, key));
  let hasAny = false;
  for (const link of picture.querySelectorAll("[data-link]")) {
    const isOn = path.has(link.getAttribute("data-link"));
    link.classList.toggle("lit-link", isOn);
    hasAny ||= isOn;
  }
  picture.classList.toggle("has-path", hasAny);
}

/**
 * Return the links from the start of a mention to its end.
 *
 * @param {any} data
 * @param {string} key
 * @returns {string[]}
 */
export function pathOf(data, key) {
  const at = key.indexOf(" ");
  const type = key.slice(at + 1);
  const spans = key.slice(0, at).split("+").map((span) => span.split("-").map(Number));
  const block = data.blocks.findIndex(
    (other) => other.type === type && (other.n_parts === null || other.n_parts === spans.length),
  );
  if (block < 0) return [];
  const nodes = [`${block}:T:${spans[0][0]}`];
  spans.forEach(([start, end], part) => {
    for (let word = part ? spans[part - 1][1] : start; word < end; word++) {
      nodes.push(`${block}:${word < start ? "O" : "B"}${part}:${word}`);
    }
  });
  nodes.push(`${block}:X:B${spans.length - 1}:${spans.at(-1)[1] - 1}`);
  return nodes.slice(1).map((node, index) => `${nodes[index]} ${node}`);
}
