/** Shorter pieces of base64 would match accidentally. */
const shortestPiece = 12;

const toUrlAlphabet = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");

/** What is left of a value in the base64 of something that contains it, for each of the three places where it may begin in a group. */
function base64Pieces(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = offset === 0 ? 0 : offset + 1;
    const piece = text.slice(first, Math.floor((bytes.length + offset) / 3) * 4);
    return piece.length < shortestPiece ? [] : [piece];
  });
}

const xmlEntities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

const jsonEscaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

/** A text as it is in a URL: in its path or a form, and in a URL within a URL. */
export function urlForms(text: string): readonly string[] {
  const [inPath, inForm] = [encodeURIComponent(text), formEncoded(text)];
  return [inPath, inForm, ...[inPath, inForm].flatMap((once) => [encodeURIComponent(once), formEncoded(once)])];
}

/** The texts under which a value may be found in a request or an answer: as it is, and in every encoding that clouds use, also as a part of something larger. */
export function encodedForms(bytes: Uint8Array): readonly string[] {
  const buffer = Buffer.from(bytes);
  const plain = buffer.toString("utf8");
  const isText = Buffer.from(plain, "utf8").equals(buffer);
  const base64 = buffer.toString("base64");
  const encoded = [base64, base64.replace(/=+$/, ""), ...base64Pieces(buffer)];
  const forms = new Set([...encoded, ...encoded.map(toUrlAlphabet), ...encoded.flatMap(urlForms)]);
  forms.add(buffer.toString("hex"));
  if (isText) {
    const escaped = jsonEscaped(plain);
    for (const text of [plain, plain.trim(), escaped, jsonEscaped(escaped)])
      for (const form of [text, ...urlForms(text)]) forms.add(form);
    forms.add(plain.replaceAll(/[&<>"']/g, (character) => xmlEntities[character] ?? character));
  }
  return [...forms].filter((form) => form !== "");
}
