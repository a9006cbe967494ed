import { entriesOf, field, isArray, isObject, type Json, stringAt } from "../json/json.ts";
import { quoted } from "../json/quoting.ts";
import { badRequest } from "../errors/status-error.ts";
import type { Fault, FaultEffect, FaultMatch } from "./fault.ts";

const longestMs = 3_600_000;

/** Reads a fault from a request body. Throws 400 with the field and what is expected. */
export function readFault(body: Json | undefined): Fault {
  if (!isObject(body)) throw badRequest('fault: expected an object such as {"effect":{"kind":"latency","ms":100}}');
  rejectUnknown(body, "fault", ["match", "effect", "times", "probability"]);
  const match = field(body, "match");
  const times = field(body, "times");
  const probability = field(body, "probability");
  return {
    effect: readEffect(field(body, "effect")),
    ...(match === undefined ? {} : { match: readMatch(match) }),
    ...(times === undefined ? {} : { times: wholeNumber(times, "times", 1, 1_000_000_000) }),
    ...(probability === undefined ? {} : { probability: numberWithin(probability, "probability", 0, 1) }),
  };
}

function readEffect(effect: Json | undefined): FaultEffect {
  const kind = stringAt(effect, "kind") ?? "";
  switch (kind) {
    case "latency":
    case "slow":
      return { kind, ms: numberWithin(field(effect, "ms"), "effect.ms", 0, longestMs) };
    case "status": {
      const reason = optionalText(field(effect, "reason"), "effect.reason");
      const message = optionalText(field(effect, "message"), "effect.message");
      const seconds = field(effect, "retryAfterSeconds");
      return {
        kind,
        code: wholeNumber(field(effect, "code"), "effect.code", 400, 599),
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
        ...(seconds === undefined
          ? {}
          : { retryAfterSeconds: wholeNumber(seconds, "effect.retryAfterSeconds", 0, 86_400) }),
      };
    }
    case "reset": {
      const when = field(effect, "when") ?? "before";
      if (when !== "before" && when !== "after") throw wrong("effect.when", when, '"before" or "after"');
      return { kind, when };
    }
    case "pieces":
      return { kind, count: wholeNumber(field(effect, "count") ?? 2, "effect.count", 2, 10_000) };
    case "stale-list":
      return { kind, versions: wholeNumber(field(effect, "versions"), "effect.versions", 1, 1_000_000) };
    case "watch-error":
      return { kind, code: wholeNumber(field(effect, "code") ?? 410, "effect.code", 400, 599) };
    case "silence":
    case "partition":
    case "empty-list":
    case "drop":
    case "duplicate":
    case "truncate":
      return { kind };
    default:
      throw wrong(
        "effect.kind",
        kind,
        "one of latency, status, reset, silence, partition, empty-list, stale-list, drop, duplicate, truncate, slow, pieces, watch-error",
      );
  }
}

function readMatch(match: Json): FaultMatch {
  if (!isObject(match)) throw wrong("match", match, "an object");
  rejectUnknown(match, "match", ["verbs", "resources", "namespaces", "names", "userAgent", "headers"]);
  const verbs = optionalTexts(field(match, "verbs"), "match.verbs");
  const resources = optionalTexts(field(match, "resources"), "match.resources");
  const namespaces = optionalTexts(field(match, "namespaces"), "match.namespaces");
  const names = optionalTexts(field(match, "names"), "match.names");
  const userAgent = optionalText(field(match, "userAgent"), "match.userAgent");
  const headers = field(match, "headers");
  return {
    ...(verbs === undefined ? {} : { verbs }),
    ...(resources === undefined ? {} : { resources }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(names === undefined ? {} : { names }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(headers === undefined ? {} : { headers: readHeaders(headers) }),
  };
}

function readHeaders(headers: Json): Readonly<Record<string, string>> {
  if (!isObject(headers)) throw wrong("match.headers", headers, "an object of header names and values");
  return Object.fromEntries(
    entriesOf(headers).map(([name, value]) => {
      if (typeof value !== "string") throw wrong(`match.headers.${name}`, value, "a string");
      return [name.toLowerCase(), value];
    }),
  );
}

function optionalText(value: Json | undefined, path: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw wrong(path, value, "a string");
}

function optionalTexts(value: Json | undefined, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!isArray(value)) throw wrong(path, value, "a list of strings");
  return value.map((item) => {
    if (typeof item !== "string") throw wrong(path, item, "a list of strings");
    return item;
  });
}

function wholeNumber(value: Json | undefined, path: string, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw wrong(path, value, `a whole number from ${least} to ${most}`);
}

function numberWithin(value: Json | undefined, path: string, least: number, most: number): number {
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw wrong(path, value, `a number from ${least} to ${most}`);
}

function rejectUnknown(value: Json, path: string, known: readonly string[]): void {
  for (const [key] of entriesOf(value)) {
    if (!known.includes(key)) throw badRequest(`${path}: unknown field ${quoted(key)}; known are ${known.join(", ")}`);
  }
}

function wrong(path: string, value: Json | undefined, expected: string): Error {
  return badRequest(`fault: ${path}: ${quoted(value)} is not valid; expected ${expected}`);
}
