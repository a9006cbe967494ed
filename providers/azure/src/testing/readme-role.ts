import { readFileSync } from "node:fs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, section = ""] = /## What it needs to be allowed\n(.*?)\n## /s.exec(readme) ?? [];

/** The actions that the README says a driver needs: those of its role, and those that only some classes need. */
export const roleOfReadme: readonly string[] = [
  ...section.matchAll(/["`](Microsoft\.[A-Za-z]+\/[A-Za-z/]+\/(?:read|write|delete|action))["`]/g),
].map(([, action = ""]) => action);
