import { access } from "node:fs/promises";

/** Whether there is a file, or a folder, at a path. One that may not be looked at counts as missing. */
export async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
