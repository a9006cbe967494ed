/** Whether a value is a JSON object: neither null nor a list. What its fields hold is unknown still. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
