import { fileURLToPath } from "node:url";

/** Prints `NAME=sha256:…` of the files of a driver, for `--provider-digest`. Does not load it. */
export async function driverDigest(name: string): Promise<void> {
  const { describeDriverFiles, locateDriver } = await import("@millwright/runtime");
  const { digest } = await describeDriverFiles(fileURLToPath(locateDriver(name)));
  process.stdout.write(`${name}=${digest}\n`);
}
