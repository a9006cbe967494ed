import { flattenBody } from "./flatten-body.ts";

/** A response to compare. */
export interface ComparedAnswer {
  readonly status: number;
  readonly body: string;
}

/** A difference of an emulator's response from the cloud's. */
export interface AnswerDifference {
  /** `status`, `body` for one that cannot be parsed, or the path of a field. */
  readonly field: string;
  readonly cloud: string;
  readonly emulator: string;
}

const absent = "absent";

/** Types of fields by their path. A field that is null, or an empty text where the other has something else, has all types. */
function typesOf(body: string): ReadonlyMap<string, string> | undefined {
  const fields = flattenBody(body);
  if (fields === undefined) return undefined;
  const types = new Map<string, string>();
  for (const { path, type, text } of fields) {
    const known = types.get(path);
    const shown = type === "null" || text === "" ? "empty" : type;
    if (known === undefined || known === "empty") types.set(path, shown);
  }
  return types;
}

/** Compares status, set of fields, and types of fields. Values are those of the world, and may differ. Sorted by field. */
export function compareAnswers(cloud: ComparedAnswer, emulator: ComparedAnswer): readonly AnswerDifference[] {
  if (cloud.status !== emulator.status) {
    return [{ field: "status", cloud: String(cloud.status), emulator: String(emulator.status) }];
  }
  const [expected, found] = [typesOf(cloud.body), typesOf(emulator.body)];
  if (expected === undefined || found === undefined) {
    const readable = (types: unknown): string => (types === undefined ? "neither JSON nor XML" : "JSON or XML");
    return expected === found ? [] : [{ field: "body", cloud: readable(expected), emulator: readable(found) }];
  }
  const paths = [...new Set([...expected.keys(), ...found.keys()])].toSorted();
  // The parts of a missing field are no further differences.
  const missing = paths.filter((path) => expected.has(path) !== found.has(path));
  const isPart = (path: string): boolean =>
    missing.some((whole) => path.startsWith(`${whole}.`) || path.startsWith(`${whole}[]`));
  return paths.flatMap((path) => {
    if (isPart(path)) return [];
    const [inCloud, inEmulator] = [expected.get(path) ?? absent, found.get(path) ?? absent];
    if (inCloud === inEmulator || isEmptyOf(inCloud, inEmulator) || isEmptyOf(inEmulator, inCloud)) return [];
    return [{ field: path, cloud: inCloud, emulator: inEmulator }];
  });
}

const isEmptyOf = (one: string, other: string): boolean => one === "empty" && other !== absent;
