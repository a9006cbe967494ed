import { readFileSync } from "node:fs";
import { isRecord } from "@millwright/base";

/** The version of this package, which reports contain. */
export function suiteVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return isRecord(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "0.0.0";
}
