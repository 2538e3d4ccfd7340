/** How wide text is on the page, asked of a canvas, which is quick and changes nothing. */

const pen = document.createElement("canvas").getContext("2d");
/** @type {Map<string, Map<string, number>>} */
const known = new Map();
const MOST_KNOWN = 20_000;

/**
 * Return a function that measures text as it is set in an element.
 *
 * @param {Element} element
 * @returns {(text: string) => number}
 */
export function measureIn(element) {
  const style = getComputedStyle(element);
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  let widths = known.get(font);
  if (!widths || widths.size > MOST_KNOWN) known.set(font, (widths = new Map()));
  return (text) => {
    let width = widths.get(text);
    if (width === undefined) {
      pen.font = font;
      widths.set(text, (width = pen.measureText(text).width));
    }
    return width;
  };
}
