/** Height of the smallest text in screenshots of the dashboard, which is 0.78rem in its style. */
const SCREENSHOT_TEXT = 12.48;

/** How wide a picture is, and how high its smallest text, pixels. */
export interface PictureSize {
  readonly width: number;
  readonly text: number;
}

/** Reads the content of an SVG or PNG file. */
export function readPicture(content: Buffer): PictureSize {
  // A PNG file: 8 bytes of signature, length and type of the first chunk, its width.
  if (content.toString("latin1", 1, 4) === "PNG") return { width: content.readUInt32BE(16), text: SCREENSHOT_TEXT };
  const svg = content.toString("utf8");
  const sizes = [...svg.matchAll(/font(?:-size)?[:=]"?([\d.]+)/g)].map(([, size]) => Number(size));
  return { width: Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1]), text: Math.min(...sizes) };
}
