const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * Escapes a text for a query of a URL as Go's `url.QueryEscape` does, which MCM uses in user data: a blank becomes `+`, and of the marks only `-`, `_`, `.` and `~`
 * stay, where `encodeURIComponent` leaves `!'()*` alone too. A lone surrogate becomes U+FFFD.
 */
export const queryEscape = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, percent)
    .replaceAll("%20", "+");
