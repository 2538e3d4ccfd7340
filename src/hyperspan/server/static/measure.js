/** The width of text on the page, measured with a canvas, which is fast and causes no layout. */

const pen = document.createElement("canvas").getContext("2d");
/** @type {Map<string, Map<string, number>>} */
const known = new Map();
const MOST_KNOWN = 20_000;

/**
 * Return a function that measures text in the font of an element.
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
