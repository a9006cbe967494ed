/** A word, or a phrase, that Kubernetes has another one for. */
export interface RemovedWord {
  /** Matched in lines whose identifiers and file names are split into words: `wakeAfterMs` is `wake After Ms`. */
  readonly pattern: RegExp;
  /** What to write. */
  readonly write: string;
  /** Only in files whose path matches. Default: all. */
  readonly files?: RegExp;
}

/** A place where such a word is right. */
export interface WordException {
  readonly file: RegExp;
  /** The line has to match, too, as it is in the file. Default: every line, and the name of the file. */
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
  { pattern: /by chance/, write: "randomly" },
  // Fields and values of the clouds' APIs: guestCpus, guestAccelerators, VMGuestStateOnly, requireGuestProvisionSignal.
  {
    pattern: /houses?|guests?(?! (?:cpus|accelerators?|state|patch|provision)\b)/,
    write: "repository layout, the noun of the thing",
  },
  { pattern: /contact|contacts/, write: "connectivity, reachable" },
  { pattern: /(?:looks?|looked|looking) after/, write: "manage" },
  { pattern: /takes? along|taken along/, write: "delete with it" },
  { pattern: /behind the back/, write: "directly, by another client" },
  { pattern: /ever more slowly|ever less often/, write: "backs off" },
  { pattern: /what (?:came|comes|becomes|became) of/, write: "result, outcome" },
  { pattern: /whoever|whomever/, write: "a client, a user, the caller" },
  { pattern: /obstacles?|chiefs?/, write: "unmet precondition, primary" },
  { pattern: /surroundings/, write: "condition inputs" },
  { pattern: /is coming up|coming machines?|sets to come/, write: "provisioning, pending" },
  { pattern: /goes first|first to go|may go/, write: "is prioritized for deletion, is deletable" },
  { pattern: /better claims?/, write: "competing machines" },
  { pattern: /is anothers?|is another s/, write: "belongs to another machine" },
  { pattern: /fleeing|is returning/, write: "rollback from a failed canary, revert" },
  { pattern: /(?:came|come|comes) to stand|stands for good/, write: "settled, is stable" },
  { pattern: /play through|plays through/, write: "simulation" },
  { pattern: /let objects go|awaits machines?|awaited machines?/, write: "allow-crd-deletion, expected-replicas" },
  {
    // A driver definition is the argument of `defineDriver`.
    pattern: /(?<!(?:resource|driver) )definitions?/,
    write: "CRD",
    files: /^packages\/(?:controllers|runtime|plan|cli)\//,
  },
  {
    pattern: /(?<!(there|it|this|that|which|and|or) )is no (?!longer|more|one|schedule|execute)[a-z]+/,
    write: "is not a …, must be …",
  },
  // American spelling, as in Kubernetes.
  { pattern: /behaviours?|colour(?:s|ed|ing)?|honour(?:s|ed)?|favour(?:s|ed|ite)?/, write: "behavior, color: -or" },
  { pattern: /(?:un)?labelled|labelling|cancelled|cancelling|signalled|modelled/, write: "labeled, canceled: one l" },
  {
    pattern: /licences?|catalogues?|artefacts?|centres?|fulfils?/,
    write: "license, catalog, artifact, center, fulfill",
  },
  {
    pattern: /(?:recogn|normal|serial|initial|organ|author|synchron|custom|minim|optim)is(?:e[drs]?|ers|ing|ation)/,
    write: "recognize, normalize: -ize",
  },
];

/** Where a removed word is the right one. Each is needed: one that matches nothing any more fails a test. */
export const exceptions: readonly WordException[] = [
  { file: /^tools\/words\//, why: "the list of the words, and examples" },
  { file: /(?:gce|gcp)\//, line: /REPAIRING/, why: "a status of Compute Engine" },
  { file: /^providers\/qemu\//, line: /cannot set up guest memory/, why: "a message of QEMU" },
  { file: /metric|gauges/, line: /fully_labelled_replicas/, why: "a metric of MCM" },
  { file: /driver-rpc\/|autoscaler-grpc\/|gcp\//, line: /CANCELLED|"cancelled"/, why: "a status and an event of gRPC" },
  { file: /azure\/|arm\//, line: /backup console david guest/, why: "a name of a user that Azure reserves" },
];

const words = removedWords.map(({ pattern, write, files }) => ({
  pattern: new RegExp(`\\b(?:${pattern.source})\\b`, "gi"),
  write,
  files,
}));

/** Identifiers, file names and hyphenated words as words with spaces. */
const splitWords = (line: string): string =>
  line.replaceAll(/([a-z\d])(?=[A-Z])/g, "$1 ").replaceAll(/(?<=[a-z])[-_](?=[a-z])/gi, " ");

/** Whether an exception covers a line; the name of a file is line 0. */
const covers = (exception: WordException, content: string): boolean => exception.line?.test(content) ?? true;

/** Removed words in a file and in its name, whether or not they are allowed there. */
function occurrences(file: string, text: string): readonly (FoundWord & { readonly content: string })[] {
  const applicable = words.filter(({ files }) => files?.test(file) ?? true);
  return [file, ...text.split("\n")].flatMap((content, line) => {
    const split = splitWords(content);
    return applicable.flatMap(({ pattern, write }) =>
      [...split.matchAll(pattern)].map(([word]) => ({ line, word, write, content })),
    );
  });
}

/** Finds removed words in a file and in its name. */
export function findRemovedWords(file: string, text: string): readonly FoundWord[] {
  const ofFile = exceptions.filter((exception) => exception.file.test(file));
  return occurrences(file, text)
    .filter(({ content }) => !ofFile.some((exception) => covers(exception, content)))
    .map(({ line, word, write }) => ({ line, word, write }));
}

/** The exceptions that a file needs: without them it would have removed words. */
export function exceptionsFor(file: string, text: string): readonly WordException[] {
  const ofFile = exceptions.filter((exception) => exception.file.test(file));
  if (ofFile.length === 0) return [];
  const found = occurrences(file, text);
  return ofFile.filter((exception) => found.some(({ content }) => covers(exception, content)));
}
