/**
 * `npm run pictures`: makes the pictures of docs/pictures from what controllers and commands do today, in virtual time. With `--dashboard`, also the screenshots of the dashboard, which need
 * Chromium (test/system/install-chromium). The test beside compares what they show with what the commands print.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../../tools/command-line.ts";
import { makePictures, pictureFiles } from "./make-pictures.ts";

const usage = `usage: npm run pictures [-- --dashboard]

Makes the pictures of docs/pictures: recordings of the terminal (asciicast and SVG) and timelines.
--dashboard  also takes the screenshots of the dashboard, with Chromium`;
const { dashboard } = readCommandLine({ usage, options: { dashboard: { type: "boolean" } } }).values;

// Colors, also where this script writes to a file or pipe.
process.env["FORCE_COLOR"] = "1";
const folder = fileURLToPath(new URL("../../docs/pictures", import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, text] of await pictureFiles(await makePictures())) {
  writeFileSync(join(folder, name), text);
  console.log(`docs/pictures/${name} written`);
}
if (dashboard === true) {
  const { takeScreenshots } = await import("./dashboard-screenshots.ts");
  for (const name of await takeScreenshots(folder)) console.log(`docs/pictures/${name} written`);
}
