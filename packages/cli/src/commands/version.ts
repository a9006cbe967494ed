import { readFile } from "node:fs/promises";

/** Prints the version of this package and of the Node that runs it. */
export async function printVersion(): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "unknown";
  process.stdout.write(`millwright ${version} (Node ${process.versions.node})\n`);
}
