import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../docs/document-pages.ts";

/** Lines of TypeScript, by what they are for. */
export interface LineCounts {
  /** What is published. */
  readonly product: number;
  /** Tests, and what they share. */
  readonly tests: number;
  /** What builds, checks and documents the rest. */
  readonly tools: number;
}

/** What a file is for. */
function groupOf(file: string): keyof LineCounts {
  if (/\.test\.ts$|\/testing\/|^test\//.test(file)) return "tests";
  return /^(?:packages|providers)\//.test(file) ? "product" : "tools";
}

/** Counts the lines of all TypeScript files of the repository. */
export function countLines(): LineCounts {
  const files = execFileSync("git", ["ls-files", "*.ts"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  const counts = { product: 0, tests: 0, tools: 0 };
  for (const file of files) counts[groupOf(file)] += readFileSync(join(root, file), "utf8").split("\n").length - 1;
  return counts;
}
