import { fieldOf } from "@millwright/core/driver-kit";

/** JSON from a cloud; undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Code and message of an error as ARM writes it; empty where it has none. */
export function armErrorIn(body: string | null | undefined): { readonly code: string; readonly message: string } {
  const error = fieldOf(parseJson(body ?? ""), "error");
  const textOf = (name: string): string => {
    const value = fieldOf(error, name);
    return typeof value === "string" ? value : "";
  };
  return { code: textOf("code"), message: textOf("message") };
}
