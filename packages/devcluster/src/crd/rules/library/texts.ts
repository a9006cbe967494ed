import type { Environment } from "@marcbachmann/cel-js";

/** Adds those of CEL's string extensions that the library lacks. Source: cel-go, "ext/strings". */
export function addTexts(environment: Environment): Environment {
  return environment
    .registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
      const characters = Array.from(text);
      if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
      return characters[Number(index)] ?? "";
    })
    .registerFunction("string.replace(string, string): string", (text: string, part: string, by: string) =>
      text.replaceAll(part, () => by),
    )
    .registerFunction(
      "string.replace(string, string, int): string",
      (text: string, part: string, by: string, limit: bigint) => {
        let left = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
        return text.replaceAll(part, (found) => (left-- > 0 ? by : found));
      },
    )
    .registerFunction("string.format(list): string", formatted);
}

/** Formats a text with `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o`, `%b` and `%%`. */
function formatted(text: string, values: readonly unknown[]): string {
  let next = 0;
  const result = text.replaceAll(/%(?:(%)|(?:\.(\d+))?([sdfexXob])|(.?))/g, (_, percent, digits, clause, other) => {
    if (percent !== undefined) return "%";
    if (clause === undefined)
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${other}"`);
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    const value = values[next];
    next += 1;
    return shown(value, String(clause), digits === undefined ? 6 : Number(digits));
  });
  if (next < values.length) throw new Error("too many arguments supplied");
  return result;
}

function shown(value: unknown, clause: string, digits: number): string {
  if (clause === "s") return plain(value);
  if (clause === "f" || clause === "e") {
    if (typeof value !== "number" && typeof value !== "bigint") throw new Error("decimal clause needs a number");
    return clause === "f" ? Number(value).toFixed(digits) : Number(value).toExponential(digits);
  }
  if (typeof value === "string" && (clause === "x" || clause === "X")) {
    const hex = Buffer.from(value, "utf8").toString("hex");
    return clause === "x" ? hex : hex.toUpperCase();
  }
  if (typeof value !== "bigint" && typeof value !== "boolean") throw new Error("integer clause needs an integer");
  const number = BigInt(value);
  switch (clause) {
    case "b":
      return number.toString(2);
    case "o":
      return number.toString(8);
    case "x":
      return number.toString(16);
    case "X":
      return number.toString(16).toUpperCase();
    default:
      return number.toString();
  }
}

function plain(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, "Z");
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (typeof value === "object" && value !== undefined) {
    const pairs = Object.entries(value).map(([key, item]) => `${key}: ${plain(item)}`);
    return `{${pairs.toSorted().join(", ")}}`;
  }
  throw new Error("value has no text");
}
