import { inspect } from "node:util";
import { plain } from "./text.ts";

/** Ends the process because of an error that nothing handled, as Node does, but prints nothing that a terminal interprets. */
export function exitUnexpectedly(error: unknown): never {
  process.stderr.write(`millwright: unexpected error: ${plain(inspect(error))}\n`);
  process.exit(1);
}
