/**
 * The paths of the duplicate fields of a JSON text (`data.k`, `spec.containers[0].name`), in the order of the duplicates. The
 * text must be valid JSON: it is scanned after parsing, and only when parsing dropped fields.
 */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  let place = 0;

  const skipBlanks = (): void => {
    while (/\s/.test(text[place] ?? "")) place += 1;
  };
  const readString = (): string => {
    const start = place;
    place += 1;
    while (place < text.length && text[place] !== '"') place += text[place] === "\\" ? 2 : 1;
    place += 1;
    return String(JSON.parse(text.slice(start, place)));
  };
  const readValue = (path: string): void => {
    skipBlanks();
    const first = text[place];
    if (first === "{") readObject(path);
    else if (first === "[") readList(path);
    else if (first === '"') readString();
    else while (place < text.length && !/[\s,\]}]/.test(text[place] ?? "")) place += 1;
    skipBlanks();
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    place += 1;
    skipBlanks();
    while (place < text.length && text[place] !== "}") {
      const key = readString();
      const own = path === "" ? key : `${path}.${key}`;
      if (seen.has(key)) found.push(own);
      seen.add(key);
      skipBlanks();
      place += 1;
      readValue(own);
      if (text[place] === ",") place += 1;
      skipBlanks();
    }
    place += 1;
  };
  const readList = (path: string): void => {
    place += 1;
    skipBlanks();
    for (let index = 0; place < text.length && text[place] !== "]"; index += 1) {
      readValue(`${path}[${index}]`);
      if (text[place] === ",") place += 1;
      skipBlanks();
    }
    place += 1;
  };

  readValue("");
  return found;
}
