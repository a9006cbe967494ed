/** A word, or a phrase, that Kubernetes has another one for. */
export interface RemovedWord {
  /** Matched in lines whose identifiers and file names are split into words: `wakeAfterMs` is `wake After Ms`. */
  readonly pattern: RegExp;
  /** What to write. */
  readonly write: string;
}

/** A place where such a word is right. */
export interface WordException {
  readonly file: RegExp;
  /** The line has to match, too, as it is in the file. Default: every line. */
  readonly line?: RegExp;
  readonly why: string;
}

/** A removed word that occurs. */
export interface FoundWord {
  /** From 1; 0 for the name of the file. */
  readonly line: number;
  readonly word: string;
  readonly write: string;
}

/** One word of Kubernetes for each thing. */
export const removedWords: readonly RemovedWord[] = [
  { pattern: /tell|tells|telling|told/, write: "report, record, set, or the verb of what is done" },
  { pattern: /say|says|saying|said/, write: "report, contain, show, or the verb of what is done" },
  { pattern: /news|last words/, write: "event, message, update" },
  { pattern: /wish|wishes|wished|wishing/, write: "desired state, request" },
  { pattern: /complain|complains|complaint|complaints/, write: "add an issue, reject" },
  { pattern: /wake|wakes|woken|woke|waking|wake ups?/, write: "requeue, enqueue" },
  { pattern: /setbacks?|tries/, write: "failed attempt, attempts" },
  { pattern: /stragglers?/, write: "abandoned calls" },
  { pattern: /lanes?/, write: "launch throttle" },
  { pattern: /stand ins?/, write: "fallback class, fake" },
  { pattern: /namesakes?/, write: "node with the same name" },
  { pattern: /permits?|repairs?|repaired|repairing/, write: "remediation budget, remediation, allows" },
  { pattern: /stand still|stands still|stood still|standing still|standstills?/, write: "pause, paused" },
  { pattern: /on (its|their|the) way out/, write: "terminating" },
  { pattern: /anew/, write: "recreated, again" },
  { pattern: /in turn/, write: "one after another" },
  { pattern: /mend|mends|mended|mending/, write: "fix" },
  { pattern: /gives? up|giving up|gave up/, write: "fails, stops retrying" },
  { pattern: /nobody|somebody|anybody/, write: "no one, none, another client, a user" },
  { pattern: /happenings?/, write: "random events" },
  { pattern: /troubles?|troubled/, write: "fault, failure, error" },
  { pattern: /left behind|left disks?/, write: "leftover" },
  { pattern: /small print/, write: "notes" },
  { pattern: /by chance|houses?|guests?/, write: "randomness, repository; the noun of the thing" },
  { pattern: /contact|contacts/, write: "connectivity, reachable" },
  { pattern: /(?<!(there|it|this|that|which|and|or) )is no (?!longer|more|one)[a-z]+/, write: "is not a …, must be …" },
];

/** Where a removed word is the right one. */
export const exceptions: readonly WordException[] = [
  { file: /^tools\/words\//, why: "the list of the words, and examples" },
  { file: /^LICENSE$/, why: "a public text" },
];

const words = removedWords.map(({ pattern, write }) => ({
  pattern: new RegExp(`\\b(?:${pattern.source})\\b`, "gi"),
  write,
}));

/** Identifiers, file names and hyphenated words as words with spaces. */
const splitWords = (line: string): string =>
  line.replaceAll(/([a-z\d])(?=[A-Z])/g, "$1 ").replaceAll(/(?<=[a-z])[-_](?=[a-z])/gi, " ");

/** Finds removed words in a file and in its name. */
export function findRemovedWords(file: string, text: string): readonly FoundWord[] {
  const ofFile = exceptions.filter((exception) => exception.file.test(file));
  return [file, ...text.split("\n")].flatMap((content, line) => {
    if (ofFile.some((exception) => exception.line?.test(content) ?? true)) return [];
    const split = splitWords(content);
    return words.flatMap(({ pattern, write }) => [...split.matchAll(pattern)].map(([word]) => ({ line, word, write })));
  });
}
