import { isJsonObject, type Json, type JsonObject } from "./request-script.ts";
import type { Answer } from "./run-subject.ts";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Times from 2020 on; a script whose time has to be compared sends an older one. */
const time = /20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const generatedSuffix = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;

/** A base is cut to this length, so that base and suffix fit a label. */
const GENERATED_BASE_LIMIT = 58;

/**
 * Replaces values that differ from run to run in the responses of one subject, and keeps their relations: the n-th version of an
 * object is `<version n of Kind name>` wherever it appears, so that a version that should have changed and did not is a difference.
 */
export function createNormalizer(): (answer: Answer) => Answer {
  const uids = new Map<string, string>();
  const uidsOfName = new Map<string, number>();
  const versions = new Map<string, string[]>();
  const generated = new Map<string, string>();

  /** Records the objects in a value before anything is replaced. */
  const note = (value: Json | undefined): void => {
    if (Array.isArray(value)) return value.forEach(note);
    if (!isJsonObject(value)) return;
    const { metadata } = value;
    if (isJsonObject(metadata)) noteObject(metadata);
    noteRefusedName(value);
    Object.values(value).forEach(note);
  };
  /** A generated name that is rejected appears in the error only. */
  const noteRefusedName = ({ name, causes }: JsonObject): void => {
    if (typeof name !== "string" || !Array.isArray(causes)) return;
    const isGenerated = causes.some((cause: Json) => isJsonObject(cause) && cause["field"] === "metadata.generateName");
    if (isGenerated && generatedSuffix.test(name.slice(-5))) generated.set(name, `${name.slice(0, -5)}<suffix>`);
  };
  const noteObject = (metadata: JsonObject): void => {
    const { uid, name, generateName, resourceVersion } = metadata;
    if (typeof uid !== "string" || typeof name !== "string") return;
    let shownName = name;
    const base = typeof generateName === "string" ? generateName.slice(0, GENERATED_BASE_LIMIT) : undefined;
    if (base !== undefined && name !== base && name.startsWith(base)) {
      const suffix = name.slice(base.length);
      shownName = generatedSuffix.test(suffix) ? `${base}<suffix>` : `${base}<odd suffix>`;
      generated.set(name, shownName);
    }
    if (!uids.has(uid)) {
      const count = (uidsOfName.get(shownName) ?? 0) + 1;
      uidsOfName.set(shownName, count);
      uids.set(uid, `<uid ${count} of ${shownName}>`);
    }
    if (typeof resourceVersion === "string") {
      const known = versions.get(uid) ?? [];
      if (!known.includes(resourceVersion)) versions.set(uid, [...known, resourceVersion]);
    }
  };

  const text = (value: string): string => {
    let result = value
      .replaceAll(uuid, (found) => uids.get(found) ?? "<uid>")
      .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
      .replaceAll(time, (_, fraction: string | undefined) =>
        fraction === undefined ? "<time>" : `<time with ${fraction.length - 1} digits>`,
      )
      .replace(/(ResourceVersion in record) \(\d+\)/, "$1 (<version>)")
      .replace(/too old resource version: \d+ \(\d+\)/, "too old resource version: <version> (<version>)")
      .replace(
        /Too large resource version: \d+, current: \d+/,
        "Too large resource version: <version>, current: <version>",
      );
    for (const [name, shown] of generated) result = result.replaceAll(name, shown);
    return result;
  };

  const clean = (value: Json | undefined): Json | undefined => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map((item) => clean(item) ?? null);
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([key, item]): [string, Json | undefined] => [
      text(key),
      cleanField(key, item),
    ]);
    return Object.fromEntries(
      value["kind"] === "Table" ? entries.map(([key, item]) => [key, table(value, key, item)]) : entries,
    );
  };
  const cleanField = (key: string, item: Json | undefined): Json | undefined => {
    if (key === "metadata" && isJsonObject(item)) return cleanMetadata(item);
    if (key === "causes" && Array.isArray(item))
      return item.map((cause) => clean(cause) ?? null).toSorted(conflictsFirst);
    if (key === "managedFields" && Array.isArray(item))
      return item.map((entry) => clean(entry) ?? null).toSorted(byManager);
    return clean(item);
  };
  const cleanMetadata = (metadata: JsonObject): Json => {
    const { uid, resourceVersion, continue: token, ...rest } = metadata;
    const version =
      typeof resourceVersion !== "string" || resourceVersion === ""
        ? resourceVersion
        : typeof uid === "string"
          ? `<version ${(versions.get(uid) ?? []).indexOf(resourceVersion) + 1}>`
          : "<version>";
    return Object.fromEntries(
      Object.entries({
        ...rest,
        uid,
        resourceVersion: version,
        continue: typeof token === "string" && token !== "" ? "<continue>" : token,
      })
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, cleanField(key, item)]),
    );
  };

  return (answer) => {
    note(answer.body);
    return {
      ...answer,
      body: inOneOrder(bookmarkedOnce(clean(answer.body) ?? null)),
      warnings: answer.warnings.map(text),
    };
  };
}

function isOfCustomResources(group: Json | undefined): boolean {
  return typeof group === "string" && /(?:\.example\.io|\.sapcloud\.io|^apiextensions\.k8s\.io)$/.test(group);
}

/** In the last seconds of a watch, kube-apiserver may send its bookmark more than once, as its timers fall. */
function bookmarkedOnce(body: Json): Json {
  if (!Array.isArray(body)) return body;
  const isRepeated = (event: Json, index: number): boolean =>
    isJsonObject(event) && event["type"] === "BOOKMARK" && JSON.stringify(event) === JSON.stringify(body[index - 1]);
  return body.filter((event: Json, index) => !isRepeated(event, index));
}

/** Kubernetes walks through a schema in the order of a Go map: the order of its errors is random. */
function inOneOrder(body: Json): Json {
  if (!isJsonObject(body) || !isJsonObject(body["details"]) || typeof body["message"] !== "string") return body;
  const { causes } = body["details"];
  if (!Array.isArray(causes) || !isOfCustomResources(body["details"]["group"])) return body;
  const textOf = (cause: Json): string =>
    isJsonObject(cause) && typeof cause["message"] === "string"
      ? `${typeof cause["field"] === "string" ? cause["field"] : ""}: ${cause["message"]}`
      : "";
  const ordered = causes.toSorted((a: Json, b: Json) => (textOf(a) < textOf(b) ? -1 : 1));
  const head = body["message"].slice(0, body["message"].indexOf(" is invalid: "));
  const message = `${head} is invalid: ${ordered.map(textOf).join(", ")}`;
  return { ...body, message, details: { ...body["details"], causes: ordered } };
}

/** Ages in a table depend on how fast the test runs. */
function table(whole: JsonObject, key: string, item: Json | undefined): Json | undefined {
  const columns = Array.isArray(whole["columnDefinitions"]) ? whole["columnDefinitions"] : [];
  const isAge = columns.map(
    (column) => isJsonObject(column) && /^"(Age|Last Seen|First Seen)"$/.test(JSON.stringify(column["name"] ?? null)),
  );
  if (key !== "rows" || !Array.isArray(item)) return item;
  return item.map((row: Json) => {
    if (!isJsonObject(row) || !Array.isArray(row["cells"])) return row;
    const cells: Json[] = row["cells"].map((cell: Json, index: number) =>
      (isAge.length === 0 || isAge[index] === true) && typeof cell === "string" && /^\d+[smhd]$/.test(cell)
        ? "<age>"
        : cell,
    );
    return { ...row, cells };
  });
}

/** Entries are sorted by time in seconds: their order depends on when the test ran. */
function byManager(a: Json, b: Json): number {
  const key = (entry: Json): string =>
    isJsonObject(entry) ? JSON.stringify([entry["manager"], entry["operation"], entry["subresource"]]) : "";
  return key(a) < key(b) ? -1 : 1;
}

/** Conflicts come from a Go map in random order; other causes keep their order. */
function conflictsFirst(a: Json, b: Json): number {
  const key = (cause: Json): string =>
    isJsonObject(cause) && cause["reason"] === "FieldManagerConflict"
      ? JSON.stringify([cause["field"], cause["message"]])
      : "";
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}
