import type { Json } from "../json/json.ts";
import { quoted } from "../json/quoting.ts";
import { forbiddenValue, notSupported, tooLong } from "../errors/field-errors.ts";
import { type Cause, invalid } from "../errors/status-error.ts";

/** The options in the query of a write. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** The manager in managedFields. */
  readonly fieldManager: string;
  /** The handling of unknown fields. Default Warn, as in kube-apiserver. */
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Server-side apply takes over fields of other managers. */
  readonly force: boolean;
}

/** The write that the options belong to. */
export type WriteKind = "Create" | "Update" | "Patch" | "Apply";

/** The maximum length of a field manager, bytes. */
const managerLimitBytes = 128;

/** Reads the options of a write from its query. Throws 422 for unsupported values. */
export function readWriteOptions(
  query: URLSearchParams,
  userAgent: string | undefined,
  write: WriteKind = "Update",
): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const validation = query.get("fieldValidation") || "Warn";
  const manager = query.get("fieldManager") ?? "";
  const force = query.get("force");
  const causes: Cause[] = [
    ...(force !== null && write === "Patch"
      ? [forbiddenValue("force", "may not be specified for non-apply patch")]
      : []),
    ...managerProblems(manager),
    ...dryRunProblems(dryRun),
  ];
  if (validation !== "Ignore" && validation !== "Warn" && validation !== "Strict") {
    causes.push(notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (causes.length > 0) {
    const kind = `${write === "Apply" ? "Patch" : write}Options`;
    throw invalid({ group: "meta.k8s.io", plural: kind.toLowerCase(), kind }, "", causes);
  }
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager || managerOfUserAgent(userAgent),
    fieldValidation: validation === "Ignore" || validation === "Strict" ? validation : "Warn",
    force: force === "true" || force === "1",
  };
}

/** Validates the values of `dryRun`. */
export function dryRunProblems(values: readonly Json[]): readonly Cause[] {
  return values.every((value) => value === "All") ? [] : [notSupported("dryRun", values, ["All"])];
}

function managerProblems(manager: string): readonly Cause[] {
  if (Buffer.byteLength(manager) > managerLimitBytes) return [tooLong("fieldManager", managerLimitBytes)];
  const characters = Array.from(manager);
  const index = characters.findIndex((character) => /\p{C}/u.test(character));
  if (index < 0) return [];
  const code = (characters[index]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const message = `Invalid value: ${goQuoted(manager)}: invalid character U+${code} (at position ${index})`;
  return [{ reason: "FieldValueInvalid", message, field: "fieldManager" }];
}

/** A text in Go's quotes, which escape some control characters differently from JSON. */
function goQuoted(text: string): string {
  return quoted(text)
    .replaceAll("\\u0007", "\\a")
    .replaceAll("\\u000b", "\\v")
    .replaceAll(/\\u00([01]\d)/g, "\\x$1");
}

function managerOfUserAgent(userAgent: string | undefined): string {
  const name = userAgent?.split("/")[0]?.trim() ?? "";
  return name === "" ? "unknown" : name.slice(0, 128);
}
