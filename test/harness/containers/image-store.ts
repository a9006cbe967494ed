import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const image = z.object({
  /** The folder with its files, in place of `/`. */
  root: z.string(),
  entrypoint: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
});

/** An image without an engine for containers: a folder, and what starts its program. */
export type Image = z.infer<typeof image>;

/** The image of a folder in which nothing starts. */
export const imageOf = (root: string): Image => ({ root, entrypoint: [], command: [], env: {} });

/** A text of an image with its own absolute paths as those of this computer. */
export const inRoot = (root: string, text: string): string =>
  text.replaceAll(/(?<= |^)\/(?=(?:adapter|app|driver|package|tmp)\b)/g, `${root}/`);

const fileOf = (store: string, name: string): string => join(store, `${encodeURIComponent(name)}.json`);

/** Names an image in a store, which is a folder: that of a computer, or of a registry. */
export async function putImage(store: string, name: string, added: Image): Promise<void> {
  await mkdir(store, { recursive: true });
  await writeFile(fileOf(store, name), JSON.stringify(added));
}

/** @throws Error if the store has no such image */
export async function getImage(store: string, name: string): Promise<Image> {
  return image.parse(JSON.parse(await readFile(fileOf(store, name), "utf8")));
}
