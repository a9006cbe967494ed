import { writeFile } from "node:fs/promises";
import { ConfigError, systemClock } from "@millwright/base";
import { messageOf } from "@millwright/kube";
import { type ObjectFlags, withClusters } from "../explain/with-objects.ts";
import { plain } from "../terminal/text.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { readVersion } from "./version.ts";

/** Flags of `millwright snapshot`. */
export interface SnapshotFlags extends ObjectFlags {
  readonly file?: string;
}

/** Writes the objects of a namespace to a file that only the user can read, or to standard output. Reads the clusters only. */
export async function snapshotCommand(flags: SnapshotFlags): Promise<void> {
  const { takeSnapshot } = await import("@millwright/plan");
  const signal = untilStopSignal();
  await withClusters(flags, async (clusters) => {
    const now = (clusters.control.serverTime ?? systemClock).now();
    const { notes, ...list } = await takeSnapshot({ ...clusters, now, version: await readVersion(), signal });
    for (const note of notes) process.stderr.write(`millwright: ${plain(note)}\n`);
    const text = `${JSON.stringify(list, undefined, 1)}\n`;
    if (flags.file === undefined || flags.file === "-") {
      process.stdout.write(text);
      return;
    }
    try {
      await writeFile(flags.file, text, { mode: 0o600 });
    } catch (error) {
      throw new ConfigError(`${flags.file}: cannot be written: ${messageOf(error)}`, { cause: error });
    }
    if (process.stderr.isTTY) process.stderr.write(`${list.items.length - 1} objects written to ${flags.file}\n`);
  });
}
