import { readFile } from "node:fs/promises";
import type { Clock } from "@millwright/base";

/** Between two reads of the file, milliseconds: the kubelet needs up to a minute to update a ConfigMap. */
const POLL_MS = 2_000;

/** A file that is being written must have had the same content for so long, milliseconds. */
const SETTLE_MS = 500;

/**
 * Calls `onChange` when the content of a file has changed and is settled. Reads the file by its path, so that one that is replaced, as a ConfigMap by its symbolic link, is found whatever the file system reports. A file that cannot
 * be read has not changed. Resolves when the signal aborts; never rejects.
 */
export async function followConfiguration(
  file: string,
  clock: Pick<Clock, "sleep">,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  const read = (): Promise<string | undefined> => readFile(file, "utf8").catch(() => undefined);
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, signal).catch(() => undefined);
  let known = await read();
  while (!signal.aborted) {
    await sleep(POLL_MS);
    let found = await read();
    if (found === undefined || found === known) continue;
    for (let before: string | undefined; before !== found && !signal.aborted;) {
      before = found;
      await sleep(SETTLE_MS);
      found = await read();
    }
    if (signal.aborted || found === undefined) continue;
    known = found;
    onChange();
  }
}
