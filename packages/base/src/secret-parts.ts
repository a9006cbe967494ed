import { isRecord } from "./is-record.ts";

/** A value in a structured text, and the name that it has there. */
interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Names of fields whose values are confidential, however short they are. */
const confidential = /key|secret|token|pass|pwd|credential|private|auth/i;

/** Values of other fields are secrets from this length on: shorter ones are names, zones and switches that messages need. */
const SHORTEST = 16;
const SHORTEST_CONFIDENTIAL = 6;

/** Each part costs milliseconds where it may be in a text. Those of confidential fields come first. */
const MAX_PARTS = 200;

/** How deep a structured text may be in values of another one. */
const MAX_DEPTH = 4;

/** A value after `=` or `:`, also one of several in a line, of JSON that was cut off and of an option; one in quotes is without them. */
const pairs =
  /(?<![\w.-])(?<name>[\w.-]{1,64})["']?[ \t]{0,8}[:=][ \t]{0,8}(?:"(?<double>(?:[^"\\\n]|\\.)*)"|'(?<single>[^'\n]*)'|(?<bare>[^\s,;"'}\]]+))/g;

/** The name before the first `=` or `:` of a line. */
const nameOfLine = /^["']?([\w./-][\w. /-]{0,64})["']?[ \t]{0,8}[:=]/;

/** The password, or user, of a URL. */
const userInfo = /\b[a-z][a-z\d+.-]{0,20}:\/\/(?:[^\s:@/]{0,200}:)?(?<value>[^\s:@/]{1,200})@/gi;

/** An address without user and query, or what is after its first `:`. */
const isPublicUrl = (value: string): boolean => /^(?:https?:)?\/\/[^@?\s]*$/.test(value);

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;

function matchesOf(text: string, pattern: RegExp): readonly NamedValue[] {
  return [...text.matchAll(pattern)].map(({ groups = {} }) => ({
    name: groups["name"] ?? "",
    value: (groups["value"] ?? groups["double"] ?? groups["single"] ?? groups["bare"] ?? "").trimEnd(),
  }));
}

/** What is after the first `=` or `:` of each line, or after the `-` of a list. */
function restsOfLines(text: string): readonly NamedValue[] {
  return text.split("\n").flatMap((each) => {
    const line = each.trim();
    const item = line.startsWith("- ") ? line.slice(2).trim() : undefined;
    const [head = "", name = ""] = nameOfLine.exec(item ?? line) ?? [];
    if (head === "" && item === undefined) return [];
    return [{ name, value: (item ?? line).slice(head.length).trim() }];
  });
}

/** The leaves of a value from JSON, with the nearest name above. */
function leavesOf(value: unknown, name: string): readonly NamedValue[] {
  if (Array.isArray(value)) return value.flatMap((each) => leavesOf(each, name));
  if (isRecord(value)) return Object.entries(value).flatMap(([key, each]) => leavesOf(each, key));
  return typeof value === "string" || typeof value === "number" ? [{ name, value: String(value) }] : [];
}

/** The leaves of a text in JSON; `undefined` for another text. */
function jsonLeaves(text: string): readonly NamedValue[] | undefined {
  if (!/^\s*[{["]/.test(text)) return undefined;
  try {
    return leavesOf(JSON.parse(text), "");
  } catch {
    return undefined;
  }
}

/** The text that a value in base64 is of, such as `client-key-data` of a kubeconfig. */
function decoded(value: string): string | undefined {
  if (value.length < SHORTEST || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined;
  const bytes = Buffer.from(value, "base64");
  const text = bytes.toString("utf8");
  // oxlint-disable-next-line no-control-regex -- bytes of something else than a text
  return Buffer.from(text).equals(bytes) && !/[\u0000-\u0008\u000e-\u001f]/.test(text) ? text : undefined;
}

/** All values in a text, and those in them. */
function valuesIn(text: string, depth: number): readonly NamedValue[] {
  if (depth > MAX_DEPTH) return [];
  const found = jsonLeaves(text) ?? [...matchesOf(text, pairs), ...restsOfLines(text)];
  const inner = found
    .filter(({ value }) => value !== text)
    .flatMap(({ value }) => {
      const base64 = decoded(value);
      if (base64 === undefined) return valuesIn(value, depth + 1);
      // `USER:PASSWORD`, as in a Docker configuration.
      const password = /^[^:\s]+:(\S+)$/.exec(base64)?.[1] ?? "";
      return [
        { name: "", value: base64.trim() },
        { name: "password", value: password },
        ...valuesIn(base64, depth + 1),
      ];
    });
  return [...found, ...matchesOf(text, userInfo).map(({ value }) => ({ name: "password", value })), ...inner];
}

/**
 * The parts of a secret value that are secrets, too: values of nested JSON, lists, kubeconfigs, `clouds.yaml`, INI and env files and cloud-configs. A message that quotes one
 * of them does not have the whole. All from a length on are, and those of confidential fields; addresses without a user are not.
 */
export function secretParts(text: string): readonly string[] {
  const named = [{ name: "", value: text.trim() }, ...valuesIn(text, 0)]
    .map(({ name, value }) => ({ isConfidential: confidential.test(name), value: unquoted(value) }))
    .filter(
      ({ isConfidential, value }) =>
        value.length >= (isConfidential ? SHORTEST_CONFIDENTIAL : SHORTEST) && value !== text && !isPublicUrl(value),
    )
    .toSorted((one, other) => Number(other.isConfidential) - Number(one.isConfidential));
  return [...new Set(named.map(({ value }) => value))].slice(0, MAX_PARTS);
}
