import { readFileSync } from "node:fs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, section = ""] = /## Permissions\n(.*?)\n## /s.exec(readme) ?? [];

const actionsIn = (text: string): readonly string[] =>
  [...text.matchAll(/["`](Microsoft\.[A-Za-z]+\/[A-Za-z/]+\/(?:read|write|delete|action))["`]/g)].map(
    ([, action = ""]) => action,
  );

const [ofDriver = "", ofDoctor = ""] = section.split("Only `millwright doctor` reads");

/** The actions of a driver in the README: those of its role, and those that only some classes need. */
export const roleOfReadme = actionsIn(ofDriver);

/** Those that only the checks of classes need. */
export const doctorRoleOfReadme = actionsIn(ofDoctor);
