import type { JsonObject } from "../json/json.ts";

/** What a writing verb answers: the HTTP code, the object (or Status), and warnings for the client's screen. */
export interface Outcome {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings?: readonly string[];
}
