/** Example texts: sentences that are well known in the field, and one invented note. */

/** The types of the embedded corpus; the examples are for models with these types. */
const TYPES = new Set(["Anatomy", "Drug", "Finding", "Procedure"]);

/**
 * Return the examples that suit a model; those from another domain would be misleading.
 *
 * @param {{types?: string[]} | null} summary
 */
export function examplesFor(summary) {
  const types = summary?.types ?? [];
  return types.length && types.every((type) => TYPES.has(type)) ? EXAMPLES : [];
}

export const EXAMPLES = [
  {
    name: "laceration",
    text: "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in stomach and overlying lac.",
  },
  { name: "infarctions", text: "Infarctions either water shed or embolic" },
  { name: "blood", text: "You see blood or dark/black material when you vomit or have a bowel movement." },
  {
    name: "tongue",
    text: "The patient had blood in his mouth and on his tongue, pupils were pinpoint and reactive.",
  },
  { name: "withdrawal", text: "Ethanol Intoxication and withdrawal" },
  {
    name: "a whole note",
    text: `HISTORY OF PRESENT ILLNESS:
The patient was found on the floor with blood in his mouth and on his tongue. Pupils were pinpoint and sluggish.
He denies chest pain or pressure. His left arm and leg are weak.

ECHOCARDIOGRAM:
The left atrium is mildly dilated. The aortic valve leaflets are thickened and calcified.
Mitral valve: leaflets mildly thickened, with moderate regurgitation. No thrombus or vegetation is seen.

MEDICATIONS:
Aspirin 81 mg daily, metoprolol and lisinopril.

IMPRESSION:
Infarctions, either water shed or embolic. Ethanol intoxication and withdrawal. Hernia, hiatal, with erosions of the distal esophagus.
`,
  },
];

/** The sentence that explains how to read a drawing. */
export const SAMPLE = {
  tokens: ["Infarctions", "either", "water", "shed", "or", "embolic"],
  offsets: null,
  direction: "ltr",
  mentions: [
    { type: "Finding", spans: [[0, 1]], text: "Infarctions", prob: 0.31 },
    { type: "Finding", spans: [[0, 1], [2, 4]], text: "Infarctions … water shed", prob: 0.94 },
    { type: "Finding", spans: [[0, 1], [5, 6]], text: "Infarctions … embolic", prob: 0.78 },
  ],
};
