/** Making elements. Text always stays text: nothing here parses markup. */

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] `false`, null and undefined are left
 *   out, `true` is written without a value
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * Return the element of the page with an id.
 *
 * @param {string} id
 * @returns {any}
 */
export function get(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}
