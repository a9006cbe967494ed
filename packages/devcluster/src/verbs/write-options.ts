import { badRequest } from "../status.ts";

/** What a writing request says in its query. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Who writes, as it appears in managedFields. */
  readonly fieldManager: string;
  /** What happens with unknown fields. Default Warn, as in kube-apiserver. */
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Server-side apply takes fields over from other managers. */
  readonly force: boolean;
}

/** Reads the query of a writing request. Throws 400 for values that Kubernetes does not know. */
export function readWriteOptions(query: URLSearchParams, userAgent: string | undefined): WriteOptions {
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) {
    throw badRequest(`dryRun: Unsupported value: "${dryRun.join(",")}": supported values: "All"`);
  }
  const validation = query.get("fieldValidation") ?? "Warn";
  if (validation !== "Ignore" && validation !== "Warn" && validation !== "Strict") {
    throw badRequest(
      `fieldValidation: Unsupported value: "${validation}": supported values: "Ignore", "Strict", "Warn"`,
    );
  }
  return {
    dryRun: dryRun.length > 0,
    fieldManager: query.get("fieldManager") || managerOfUserAgent(userAgent),
    fieldValidation: validation,
    force: query.get("force") === "true",
  };
}

function managerOfUserAgent(userAgent: string | undefined): string {
  const name = userAgent?.split("/")[0]?.trim() ?? "";
  return name === "" ? "unknown" : name.slice(0, 128);
}
