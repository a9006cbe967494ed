import { fieldOf } from "@millwright/core/driver-kit";

/** Code of an error of the system, such as `ENOENT`; empty for other errors. */
export function systemCodeOf(error: unknown): string {
  const code = fieldOf(error, "code");
  return typeof code === "string" ? code : "";
}
