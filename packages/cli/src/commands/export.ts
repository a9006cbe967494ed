import { writeFile } from "node:fs/promises";
import { ConfigError } from "@millwright/base";
import { createApiClient, type KubeObject, loadKubeConfig, messageOf } from "@millwright/kube";
import { plain } from "../terminal/text.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";
import { textOfObjects } from "./crds.ts";

/** Flags of `millwright export`. */
export interface ExportFlags extends NamespaceFlags {
  readonly file?: string;
  readonly secrets?: true;
  readonly output: "yaml" | "json";
}

/** Writes to a file that only the user can read, or to standard output. */
async function write(items: readonly KubeObject[], { file, output }: ExportFlags): Promise<void> {
  const text = await textOfObjects(items, output);
  if (file === undefined || file === "-") {
    process.stdout.write(text);
    return;
  }
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`${file}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
  if (process.stderr.isTTY) process.stderr.write(`${items.length} objects written to ${file}\n`);
}

/** Prints the machines of a namespace with their owners and classes. Reads only. */
export async function exportCommand(flags: ExportFlags): Promise<void> {
  const { exportFleet } = await import("@millwright/runtime/checks");
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  try {
    const { items, notes } = await exportFleet({
      control,
      namespace: flags.namespace ?? config.namespace ?? "default",
      hasSecrets: flags.secrets === true,
      signal: untilStopSignal(),
    });
    for (const note of notes) process.stderr.write(`millwright: ${plain(note)}\n`);
    await write(items, flags);
  } finally {
    await control.close();
  }
}
