/** Finds a key spelt `__proto__`, however its letters are escaped. Linear in the length of the text. */
const protoKey =
  /"(?:_|\\u005[Ff]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[Ff])(?:t|\\u0074)(?:o|\\u006[Ff])(?:_|\\u005[Ff]){2}"\s*:/;

/**
 * Parses JSON from outside. A `__proto__` key is dropped at whatever depth: `JSON.parse` makes it an own property, and the
 * first assignment that copies it would replace the prototype of the copy.
 *
 * @throws SyntaxError for text that is not JSON.
 */
export function parseJson(text: string): unknown {
  if (!protoKey.test(text)) return JSON.parse(text);
  return JSON.parse(text, function dropProto(this: unknown, key: string, value: unknown) {
    // Returning undefined makes JSON.parse delete the property.
    return key === "__proto__" ? undefined : value;
  });
}
