/** The parts of Go's time layouts, in order: a pattern and its name in the layout. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, "2006"],
  [/^-/, "-"],
  [/^(?:0[1-9]|1[0-2])/, "01"],
  [/^-/, "-"],
  [/^(?:0[1-9]|[12]\d|3[01])/, "02"],
  [/^T/, "T"],
  [/^(?:[01]\d|2[0-3])/, "15"],
  [/^:/, ":"],
  [/^[0-5]\d/, "04"],
  [/^:/, ":"],
  [/^[0-5]\d/, "05"],
];
const zone: readonly [RegExp, string] = [/^(?:Z|[+-]\d\d:\d\d)/, "Z07:00"];

const plain = { layout: "2006-01-02T15:04:05Z07:00", parts: [...parts, [/^(?:\.\d+)?/, ""] as const, zone] };
const micro = { layout: "2006-01-02T15:04:05.000000Z07:00", parts: [...parts, [/^\.\d{6}/, ".000000"] as const, zone] };

/**
 * Go's parsing error of a time, or undefined for a valid one. `micro-time` has exactly six fraction digits (`MicroTime`),
 * `date-time` any number (`Time`).
 */
export function goTimeError(text: string, format: "date-time" | "micro-time"): string | undefined {
  const { layout, parts: wanted } = format === "micro-time" ? micro : plain;
  const error = (why: string): string => `parsing time ${JSON.stringify(text)}${why}`;
  let rest = text;
  for (const [pattern, name] of wanted) {
    const found = pattern.exec(rest);
    if (found === null) {
      return error(` as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`);
    }
    rest = rest.slice(found[0].length);
  }
  return rest === "" ? undefined : error(`: extra text: ${JSON.stringify(rest)}`);
}
