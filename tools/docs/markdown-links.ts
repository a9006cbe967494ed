/** Code of a page between fences, whose comments are not headings and whose texts are not links. */
const fences = /^ *(`{3,})[^`\n]*\n.*?^ *\1 *$/gms;

/** A page without the code between its fences. */
export const withoutCode = (text: string): string => text.replaceAll(fences, "");

const link = /(\]\()([^)\s]+)(\))/g;

/** The targets of the links and images of a page, in its order. */
export const linksOf = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(link)].map(([, , target = ""]) => target);

/** A page with other targets of its links and images. Code stays as it is. */
export function mapLinks(text: string, targetOf: (target: string) => string): string {
  const map = (part: string): string =>
    part.replaceAll(link, (_, before: string, target: string, after: string) => `${before}${targetOf(target)}${after}`);
  let result = "";
  let end = 0;
  for (const code of text.matchAll(fences)) {
    result += map(text.slice(end, code.index)) + code[0];
    end = code.index + code[0].length;
  }
  return result + map(text.slice(end));
}

/** Whether a link leaves the repository. */
export const isExternal = (target: string): boolean => /^(https?|mailto):/.test(target);

/** The name by which a heading is linked, as GitHub makes it. Headings that repeat are numbered besides. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "")
    .trim()
    .replaceAll(" ", "-");

/** Names by which the headings of a page are linked. */
export function anchorsOf(text: string): readonly string[] {
  const counts = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => {
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
