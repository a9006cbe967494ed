/*
 * Requires `npm ci`, whose absence would otherwise cause an error of Node about TypeScript. Plain JavaScript, since the Node that runs it may be an old one.
 */
import { existsSync } from "node:fs";

if (!existsSync(new URL("../node_modules/.package-lock.json", import.meta.url))) {
  console.error("Nothing is installed yet: run `npm ci` first. It brings the packages, and the Node that they run on.");
  process.exitCode = 1;
}
