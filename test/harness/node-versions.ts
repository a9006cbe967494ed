import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const cache = fileURLToPath(new URL("../../node_modules/.cache/millwright/", import.meta.url));

/** Path of a Node of this version, installed once from the npm package `node`. */
export async function nodeOfVersion(version: string): Promise<string> {
  const folder = join(cache, `node-${version}`);
  const path = join(folder, "node_modules/node/bin/node");
  try {
    await access(path);
  } catch {
    await mkdir(cache, { recursive: true });
    const fresh = await mkdtemp(join(cache, "node-"));
    await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--prefix", fresh, `node@${version}`]);
    // Another process may have been faster.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return path;
}
