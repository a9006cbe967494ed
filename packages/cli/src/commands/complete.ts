import type { Command } from "commander";
import { type Candidate, type Candidates, candidatesFor, type NamedKind } from "../completion/candidates.ts";
import { completionScript, type Shell } from "../completion/scripts.ts";
import { plain } from "../terminal/text.ts";

/** A shell waits for the answer: names that take longer are left out, milliseconds. */
const NAMES_TIMEOUT_MS = 1_500;

/** More names than anyone reads. */
const MAX_NAMES = 500;

/** Prints the script for a shell. */
export function printCompletion(shell: Shell): void {
  process.stdout.write(completionScript(shell));
}

async function typeOf(kind: NamedKind) {
  const [core, kube] = await Promise.all([import("@millwright/core/machine-api"), import("@millwright/kube")]);
  return {
    Machine: core.machineResource,
    MachineDeployment: core.machineDeploymentResource,
    MachineSet: core.machineSetResource,
    MachineClass: core.machineClassResource,
    Node: kube.nodeResource,
    Namespace: kube.namespaceResource,
  }[kind];
}

/** Names of objects in the cluster that the flags select; none where it cannot be read in time. */
async function namesOf({ objects, flags }: Candidates): Promise<readonly string[]> {
  if (objects === undefined) return [];
  const { withClusters } = await import("../explain/with-objects.ts");
  const { targetKubeconfig, asGroup } = flags;
  // A file that needs to be allowed more, by another flag, is not read for names.
  const clusters = {
    ...flags,
    ...(targetKubeconfig === undefined ? {} : { targetKubeconfig }),
    targetKubeconfigAllow: [],
    requestTimeout: 0,
    asGroup: asGroup === undefined ? [] : [asGroup],
  };
  const type = await typeOf(objects.kind);
  const isNamespaced = objects.kind !== "Node" && objects.kind !== "Namespace";
  return withClusters(clusters, async ({ control, target, namespace }) => {
    const api = objects.kind === "Node" ? (target ?? control) : control;
    const where = isNamespaced ? { namespace } : {};
    const { items } = await api.list(type, { ...where, limit: MAX_NAMES }, { timeoutMs: NAMES_TIMEOUT_MS });
    return items.map(({ metadata }) => `${objects.prefix}${metadata.name}`);
  }).catch(() => []);
}

const lineOf = ({ word, description }: Candidate): string =>
  `${plain(word)}${description === "" ? "" : `\t${plain(description)}`}\n`;

/** Prints what may stand at the end of a command line; a cluster that cannot be read has no names. */
export async function complete(program: Command, words: readonly string[]): Promise<void> {
  const found = candidatesFor(program, words);
  const names = (await namesOf(found)).map((word) => ({ word, description: "" }));
  const all = [...found.words, ...names].filter(({ word }) => word.startsWith(words.at(-1) ?? ""));
  const directive = (found.isPart ? 2 : 0) + (found.areFiles ? 0 : 4);
  process.stdout.write(`${all.map(lineOf).join("")}:${directive}\n`);
}
