import type { JsonObject } from "../json/json.ts";

/** The result of a write: the HTTP code, the object (or Status), and warnings. */
export interface Outcome {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings?: readonly string[];
}
