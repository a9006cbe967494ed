/** A text from an object in quotes, cut so that a hostile one does not fill a status. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
