import { isRecord } from "@millwright/base";

/** Reads JSON; undefined for a text that is none. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined || text === "") return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    return undefined;
  }
}

/** Reads a JSON object; undefined for anything else. */
export function parseRecord(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseJson(text);
  return isRecord(parsed) && !Array.isArray(parsed) ? parsed : undefined;
}

/** A value as JSON; `null` where there is none, such as for undefined. */
export const toJson = (value: unknown): string => JSON.stringify(value) ?? "null";
