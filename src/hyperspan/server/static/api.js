/** The operations of the server. Every failure is a `ServerError` with a message for the user. */

/** @typedef {import("./lanes.js").Mention} Mention */

/**
 * @typedef {object} FoundSentence
 * @property {number} [start] code points in the text
 * @property {number} [end]
 * @property {string[]} tokens
 * @property {[number, number][] | null} offsets
 * @property {"ltr" | "rtl"} direction
 * @property {Mention[]} mentions
 * @property {Mention[]} [candidates]
 * @property {Mention[]} [gold]
 * @property {boolean} truncated
 * @property {string} [skipped] why the sentence was skipped
 */

/** A failure of the server or of the connection. */
export class ServerError extends Error {
  /**
   * @param {string} message
   * @param {string[]} [details]
   */
  constructor(message, details = []) {
    super(message);
    this.name = "ServerError";
    this.details = details;
  }
}

/** The server cannot be reached. */
export class LostServer extends ServerError {
  constructor() {
    super("The server does not respond. Is “hyperspan serve” still running?");
  }
}

/** Return the models. */
export async function models() {
  return (await ask("api/model")).json();
}

/**
 * Find mentions in a text, and receive each sentence as soon as it is done.
 *
 * @param {object} request as the operation `predict` takes it
 * @param {{onSentence: (sentence: FoundSentence) => void, onHead?: () => void, onFindings?: (findings: string[]) => void}} listeners
 *   the head comes first; findings are problems in the gold
 * @param {AbortSignal} signal
 * @returns {Promise<{sentences: number, truncated: boolean}>}
 */
export async function predict(request, { onSentence, onHead, onFindings }, signal) {
  const answer = await ask("api/predict", request, { signal, accept: "application/x-ndjson" });
  let end = null;
  try {
    for await (const line of lines(answer.body)) {
      const record = parsed(line);
      if (record.error) throw new ServerError(record.error, spoken(record.details));
      if (record.done) end = record;
      else if (record.tokens) onSentence(record);
      else {
        onHead?.();
        if (record.findings) onFindings?.(spoken(record.findings));
      }
    }
  } catch (error) {
    if (signal.aborted || error instanceof ServerError) throw error;
    throw new ServerError("The connection was lost before the last sentence arrived. Find mentions again.");
  }
  if (!end) throw new ServerError("The response ended before the last sentence. Find mentions again.");
  return end;
}

/**
 * Explain the mentions of a sentence.
 *
 * @param {object} request
 * @param {AbortSignal} [signal]
 */
export async function explain(request, signal) {
  return (await ask("api/explain", request, { signal })).json();
}

/**
 * Read the annotations of a brat pair.
 *
 * @param {string} text
 * @param {string} ann
 * @returns {Promise<{text: string, gold: {type: string, spans: [number, number][]}[], findings: string[]}>}
 */
export async function readBrat(text, ann) {
  return (await ask("api/read-brat", { text, ann })).json();
}

/**
 * Make a file.
 *
 * @param {object} request
 * @returns {Promise<{blob: Blob, name: string}>}
 */
export async function exportFile(request) {
  const answer = await ask("api/export", request);
  return { blob: await answer.blob(), name: fileName(answer.headers.get("Content-Disposition") ?? "") };
}

/**
 * @param {string} path
 * @param {object} [body] posted as JSON if given
 * @param {{signal?: AbortSignal, accept?: string}} [options]
 */
async function ask(path, body, { signal, accept = "application/json" } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method: body ? "POST" : "GET",
      headers: body ? { "Content-Type": "application/json", Accept: accept } : { Accept: accept },
      body: body ? JSON.stringify(body) : undefined,
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new LostServer();
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/** @param {Response} answer */
async function refusal(answer) {
  let told = null;
  try {
    told = await answer.json();
  } catch {
    // The body is not meant for users.
  }
  if (typeof told?.error === "string") return new ServerError(told.error, spoken(told.details));
  return new ServerError(`The server responded with status ${answer.status}.`);
}

/**
 * @param {unknown} details
 * @returns {string[]}
 */
function spoken(details) {
  if (!Array.isArray(details)) return [];
  return details.map((detail) => (typeof detail === "string" ? detail : (detail?.message ?? JSON.stringify(detail))));
}

/** @param {string} line */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new ServerError("The server sent a line that is not valid JSON. Find mentions again.");
  }
}

/**
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<string>}
 */
async function* lines(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const pieces = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split("\n");
    rest = done ? "" : pieces.pop();
    for (const line of pieces) if (line.trim()) yield line;
    if (done) return;
  }
}

/**
 * Get the file name from a Content-Disposition header, preferably from its extended form.
 *
 * @param {string} header
 */
function fileName(header) {
  const wide = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(header);
  if (wide) {
    try {
      return decodeURIComponent(wide[1]);
    } catch {
      // Fall back to the plain form.
    }
  }
  return /filename\s*=\s*"?([^";]+)"?/i.exec(header)?.[1] ?? "mentions";
}
