/** Colours of types by name, the same as on the command line: a type has the same colour everywhere. */

const N_COLOURS = 8;
const SEED = 2424;

export class TypeColours {
  constructor() {
    /** @type {Map<string, number>} */
    this.numbers = new Map();
  }

  /**
   * Return the number of a type's colour: that of its name, or the next one that is free.
   *
   * @param {string} type
   */
  index(type) {
    const known = this.numbers.get(type);
    if (known !== undefined) return known;
    const taken = new Set(this.numbers.values());
    const wanted = numberOf(type);
    let number = wanted;
    for (let step = 0; step < N_COLOURS && taken.has(number); step++) number = (number + 1) % N_COLOURS;
    if (taken.has(number)) number = wanted;
    this.numbers.set(type, number);
    return number;
  }
}

/**
 * FNV-1a over UTF-8, folded: the same as the server's.
 *
 * @param {string} type
 */
export function numberOf(type) {
  let bits = SEED;
  for (const byte of new TextEncoder().encode(type)) bits = Math.imul(bits ^ byte, 0x01000193) >>> 0;
  return ((bits ^ (bits >>> 16)) >>> 0) % N_COLOURS;
}
