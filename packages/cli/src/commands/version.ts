import { readFile } from "node:fs/promises";

/** The version of this package. */
export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

/** Prints the version of this package and of the Node that runs it. */
export async function printVersion(): Promise<void> {
  process.stdout.write(`millwright ${await readVersion()} (Node ${process.versions.node})\n`);
}
