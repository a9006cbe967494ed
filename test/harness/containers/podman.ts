/**
 * In place of podman, for commands of pages: `podman build -t NAME [--build-arg NAME=VALUE] CONTEXT` and `podman push NAME`. A folder of the repository by its URL is that of this clone. The stores of images are folders, of this computer in `IMAGES_BUILT` and of
 * the registry in `IMAGES_PUSHED`.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildImage } from "./build-image.ts";
import { getImage, putImage } from "./image-store.ts";

const { IMAGES_BUILT: built = "", IMAGES_PUSHED: pushed = "" } = process.env;
const [command, ...rest] = process.argv.slice(2);
const { values, positionals } = parseArgs({
  args: rest,
  allowPositionals: true,
  options: {
    tag: { type: "string", short: "t", default: "" },
    "build-arg": { type: "string", multiple: true, default: [] },
    timestamp: { type: "string" },
  },
});
const [subject = ""] = positionals;
if (command === "push") await putImage(pushed, subject, await getImage(built, subject));
else if (command === "build") {
  const args = Object.fromEntries(
    values["build-arg"].map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
  );
  const [, folder] = /^https:.*\.git#v[\d.]+:(.+)$/.exec(subject) ?? [];
  const context = folder === undefined ? subject : fileURLToPath(new URL(`../../../${folder}`, import.meta.url));
  const base = (name: string) => getImage(pushed, name).catch(() => undefined);
  await mkdir(built, { recursive: true });
  await putImage(built, values.tag, await buildImage(context, { folder: built, args, base, env: () => process.env }));
} else throw new Error(`no test has podman ${command ?? ""}`);
