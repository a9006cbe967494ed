#!/usr/bin/env node
import { unsupportedNode } from "./supported-node.ts";

const problem = unsupportedNode(process.versions.node);
if (problem === undefined) {
  // Loaded afterwards: an old Node could not even parse it.
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
